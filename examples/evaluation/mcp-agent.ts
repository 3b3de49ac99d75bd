/**
 * An agent that plays a run by the tools of the Model Context Protocol alone. A model would choose the calls; this one follows a script: it reads
 * its instructions, buys on Monday, keeps the shares while they are worth more than they cost, and finishes on Friday.
 *
 *   sandpit eval run evaluation.json --agent 'tools=npx tsx examples/evaluation/mcp-agent.ts'
 */
const { SANDPIT_MCP = '', SANDPIT_TOKEN = '', SANDPIT_PORTFOLIO = '' } = process.env;

const SHARES = 100;
const DAYS = 5;

interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent: { readonly result?: unknown; readonly error?: { readonly message: unknown } };
}

/** Calls a tool. Throws if it refuses. */
async function call<Result>(url: string, token: string, name: string, given: object = {}): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  });
  const { result, error } = (await response.json()) as { result?: ToolResult; error?: { message: string } };
  if (result === undefined) throw new Error(error?.message ?? `${name} answered ${response.status}`);
  const { structuredContent } = result;
  if (result.isError === true) throw new Error(`${name}: ${String(structuredContent.error?.message)}`);
  return structuredContent.result as Result;
}

/** Plays a run by its tools. */
export async function playByTools(url: string, token: string, portfolioId: string): Promise<void> {
  const use = <Result>(name: string, given?: object): Promise<Result> => call(url, token, name, given);
  const { rules } = await use<{ readonly rules: { readonly symbols?: readonly string[] } }>('get_run');
  const symbol = rules.symbols?.[0] ?? 'SPY';
  const order = { portfolioId, symbol, assetClass: 'EQUITY', orderType: 'MARKET', timeInForce: 'DAY' };
  await use('place_order', { ...order, positionIntent: 'BUY_TO_OPEN', quantity: SHARES });
  for (let day = 1; day < DAYS; day += 1) {
    await use('advance', { until: 'next-open' });
    await use('advance', { by: 'PT1H' });
    const { equities } = await use<{ readonly equities: readonly { readonly unrealizedPnl: number }[] }>(
      'list_positions',
      { portfolioId },
    );
    const [held] = equities;
    if (held !== undefined && held.unrealizedPnl < 0) await use('close_position', { portfolioId, symbol });
  }
  await use('report_usage', { inputTokens: 0, outputTokens: 0, costUsd: 0 });
  await use('finish_run');
}

if (process.argv[1] === import.meta.filename)
  await playByTools(SANDPIT_MCP, SANDPIT_TOKEN, SANDPIT_PORTFOLIO);
