import type { AgentTokenBody } from '@sandpit/protocol';
import { LevelTooLowError, type Sandpit, SandpitError } from '@sandpit/client';

/** The fields of a protocol message that a bridge reads. */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly result?: { readonly protocolVersion?: unknown };
}

/**
 * The tools of a server on standard input and output: every message goes to its `/mcp` and back, and the server enforces the agent's
 * rights. Resolves when the agent disconnects.
 */
export async function bridge(client: Sandpit, wanted: AgentTokenBody): Promise<void> {
  const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const { baseUrl } = client.transport;
  let token: Promise<string> | undefined;
  const bearer = async (): Promise<string> => {
    token ??= client.call('createAgentToken', { body: wanted }).then((issued) => issued.token);
    try {
      return await token;
    } catch (error) {
      token = undefined;
      throw error;
    }
  };
  /** Set if the given token is an agent's already: it cannot issue another one and is used unchanged. */
  let isAgents = false;
  const authorized = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    try {
      if (!isAgents) await bearer();
    } catch (error) {
      if (!(error instanceof LevelTooLowError)) throw error;
      isAgents = true;
    }
    if (isAgents) {
      const headers = Object.fromEntries(new Headers(init?.headers));
      const body = typeof init?.body === 'string' ? init.body : undefined;
      return client.transport.open(
        init?.method ?? 'GET',
        String(url),
        headers,
        body,
        init?.signal ?? undefined,
      );
    }
    const ask = async (): Promise<Response> => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${await bearer()}`);
      return fetch(url, { ...init, headers });
    };
    const response = await ask();
    if (response.status !== 401) return response;
    // The token has expired.
    token = undefined;
    return ask();
  };
  const agent = new StdioServerTransport();
  const server = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { fetch: authorized });
  const over = new Promise<void>((resolve) => {
    agent.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  server.onmessage = (message) => {
    const { protocolVersion } = (message as Message).result ?? {};
    if (typeof protocolVersion === 'string') server.setProtocolVersion(protocolVersion);
    void agent.send(message);
  };
  agent.onmessage = (message) => {
    server.send(message).catch((error: unknown) => {
      const { id, method } = message as Message;
      if (id === undefined || method === undefined) return;
      void agent.send({ jsonrpc: '2.0', id, error: { code: -32_000, message: reasonOf(error, baseUrl) } });
    });
  };
  await server.start();
  await agent.start();
  await over;
  await server.close();
}

/** One sentence with what to do. */
function reasonOf(error: unknown, baseUrl: string): string {
  if (error instanceof SandpitError) return error.message;
  const text = error instanceof Error ? error.message : String(error);
  return /fetch failed|ECONNREFUSED/.test(text)
    ? `No Sandpit answers at ${baseUrl}. Is it running (sandpit up)?`
    : text;
}
