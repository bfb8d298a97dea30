// The providers offered during set-up and in Settings, with the names people know. The gateway decides which exist
// (src/models/providers.ts); the live check refuses one that it does not know.

export type ProviderChoice = { id: string; title: string; /** The site that issues keys. */ keys: string };

export const PROVIDERS: readonly ProviderChoice[] = [
  { id: "anthropic", title: "Anthropic (Claude)", keys: "console.anthropic.com" },
  { id: "openai", title: "OpenAI (GPT)", keys: "platform.openai.com" },
  { id: "google", title: "Google (Gemini)", keys: "aistudio.google.com" },
  { id: "openrouter", title: "OpenRouter", keys: "openrouter.ai" },
  { id: "deepseek", title: "DeepSeek", keys: "platform.deepseek.com" },
  { id: "groq", title: "Groq", keys: "console.groq.com" },
  { id: "xai", title: "xAI (Grok)", keys: "console.x.ai" },
];

/** Model servers that users run themselves, and their default ports. */
export const LOCAL_SERVERS: readonly { id: string; title: string; port: number }[] = [
  { id: "ollama", title: "Ollama", port: 11_434 },
  { id: "lmstudio", title: "LM Studio", port: 1_234 },
  { id: "llamacpp", title: "llama.cpp", port: 8_080 },
  { id: "vllm", title: "vLLM", port: 8_000 },
];

export function needsKey(id: string): boolean {
  return PROVIDERS.some((provider) => provider.id === id);
}

export function providerTitleOf(id: string): string {
  return (
    [...PROVIDERS, ...LOCAL_SERVERS].find((provider) => provider.id === id)?.title ??
    (id === "openai-compatible" ? "OpenAI-compatible server" : id)
  );
}
