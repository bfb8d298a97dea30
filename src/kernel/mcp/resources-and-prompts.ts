// Resources and prompts of an MCP server as the syscalls return them.

import type { McpConnection } from "../../mcp/connection.ts";

const ITEMS_MAX = 1_000;

export async function listResources(connection: McpConnection, signal: AbortSignal) {
  const [resources, templates] = await Promise.all([connection.listResources(signal), connection.listResourceTemplates(signal)]);
  return {
    resources: resources
      .slice(0, ITEMS_MAX)
      .map(({ uri, name, description = null, mimeType = null }) => ({ uri, name, description, mimeType })),
    templates: templates
      .slice(0, ITEMS_MAX)
      .map(({ uriTemplate, name, description = null, mimeType = null }) => ({ uriTemplate, name, description, mimeType })),
  };
}

export async function readResource(connection: McpConnection, uri: string, signal: AbortSignal) {
  const { contents } = await connection.readResource(uri, signal);
  return {
    contents: contents.map((part) => ({
      uri: part.uri,
      mimeType: part.mimeType ?? null,
      ...("text" in part ? { text: part.text } : { blob: part.blob }),
    })),
  };
}

export async function listPrompts(connection: McpConnection, signal: AbortSignal) {
  const prompts = await connection.listPrompts(signal);
  return {
    prompts: prompts.slice(0, ITEMS_MAX).map(({ name, description = null, arguments: wanted = [] }) => ({
      name,
      description,
      arguments: wanted.map((one) => ({ name: one.name, description: one.description ?? null, required: one.required === true })),
    })),
  };
}

export async function getPrompt(connection: McpConnection, name: string, args: Record<string, string>, signal: AbortSignal) {
  const { description = null, messages } = await connection.getPrompt(name, args, signal);
  return { description, messages: messages.map(({ role, content }) => ({ role, content })) };
}
