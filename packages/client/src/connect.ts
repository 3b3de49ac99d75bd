import { Sandpit } from './client.js';
import { SandpitError } from './errors.js';
import type { Access, TransportOptions } from './transport.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/**
 * A client by what is given; else by `SANDPIT_URL` with `SANDPIT_TOKEN` or `SANDPIT_API_KEY`; else by the demo credentials that a server
 * leaves in its data directory (`DATA_DIR`, `./data`). Asks nothing of the server yet. Throws where nothing says who is asking.
 */
export async function connect(given: Partial<Access> & TransportOptions = {}): Promise<Sandpit> {
  const { url, token, apiKey, ...options } = given;
  const environment = typeof process === 'undefined' ? {} : process.env;
  const where = url ?? environment['SANDPIT_URL'];
  if (token !== undefined || apiKey !== undefined)
    return new Sandpit(accessOf(where ?? DEFAULT_URL, token, apiKey), options);
  const { SANDPIT_TOKEN, SANDPIT_API_KEY } = environment;
  if (SANDPIT_TOKEN !== undefined || SANDPIT_API_KEY !== undefined)
    return new Sandpit(accessOf(where ?? DEFAULT_URL, SANDPIT_TOKEN, SANDPIT_API_KEY), options);
  const demo = await demoAccess(environment['DATA_DIR'] ?? './data');
  if (demo === undefined)
    throw new SandpitError(
      'Nothing says who is asking: set SANDPIT_TOKEN or SANDPIT_API_KEY, or run where a server keeps its ./data (npx sandpit up)',
    );
  return new Sandpit({ ...demo, ...(where !== undefined && { url: where }) }, options);
}

const accessOf = (url: string, token: string | undefined, apiKey: string | undefined): Access => ({
  url,
  ...(token !== undefined && { token }),
  ...(apiKey !== undefined && token === undefined && { apiKey }),
});

/** What a server wrote for whoever may read its data directory; undefined in a browser, and where there is none. */
export async function demoAccess(directory: string): Promise<Access | undefined> {
  try {
    const { readFile } = await import('node:fs/promises');
    const text = await readFile(`${directory}/demo-credentials.json`, 'utf8');
    const { baseUrl, token, apiKey } = JSON.parse(text) as Readonly<Record<string, string | undefined>>;
    if (baseUrl === undefined) return undefined;
    // The key outlives every token.
    return accessOf(baseUrl, apiKey === undefined ? token : undefined, apiKey);
  } catch {
    return undefined;
  }
}
