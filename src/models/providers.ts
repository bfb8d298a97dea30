// Every provider by its id in config/ai/provider: its dialect and its address. A self-hosted server is reached under the
// configured base URL, or else where its software listens by default.

export type Dialect = "openai" | "anthropic" | "google" | "compatible" | "workers-ai";

export type Provider = {
  dialect: Dialect;
  /** The name people know. */
  title: string;
  baseUrl: string | null;
  needsKey: boolean;
  /** Self-hosted: free, slow to start, and able to report the context size it was started with. */
  local?: "ollama" | "llamacpp" | "vllm" | "lmstudio" | "unknown";
};

export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { dialect: "openai", title: "OpenAI", baseUrl: "https://api.openai.com/v1", needsKey: true },
  anthropic: { dialect: "anthropic", title: "Anthropic", baseUrl: "https://api.anthropic.com/v1", needsKey: true },
  google: { dialect: "google", title: "Google", baseUrl: "https://generativelanguage.googleapis.com/v1beta", needsKey: true },
  openrouter: { dialect: "compatible", title: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", needsKey: true },
  deepseek: { dialect: "compatible", title: "DeepSeek", baseUrl: "https://api.deepseek.com/v1", needsKey: true },
  groq: { dialect: "compatible", title: "Groq", baseUrl: "https://api.groq.com/openai/v1", needsKey: true },
  xai: { dialect: "compatible", title: "xAI", baseUrl: "https://api.x.ai/v1", needsKey: true },
  ollama: { dialect: "compatible", title: "Ollama", baseUrl: "http://127.0.0.1:11434/v1", needsKey: false, local: "ollama" },
  llamacpp: { dialect: "compatible", title: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1", needsKey: false, local: "llamacpp" },
  vllm: { dialect: "compatible", title: "vLLM", baseUrl: "http://127.0.0.1:8000/v1", needsKey: false, local: "vllm" },
  lmstudio: { dialect: "compatible", title: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1", needsKey: false, local: "lmstudio" },
  "openai-compatible": { dialect: "compatible", title: "The model server", baseUrl: null, needsKey: false, local: "unknown" },
  "workers-ai": { dialect: "workers-ai", title: "Workers AI", baseUrl: "https://workers-ai.invalid/v1", needsKey: false },
};

/** Old spellings. */
const ALIASES: Readonly<Record<string, string>> = { workersai: "workers-ai" };

export function findProvider(id: string): Provider | undefined {
  const known = ALIASES[id] ?? id;
  return Object.hasOwn(PROVIDERS, known) ? PROVIDERS[known] : undefined;
}
