import { Sandpit } from './client.js';
import { SandpitError } from './errors.js';
import type { Access, TransportOptions } from './transport.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/**
 * A client for a server and credentials. Server: `url`, else `SANDPIT_URL`, else the one whose data directory this is (`DATA_DIR`,
 * `./data`), else port 3000 of this machine. Credentials: `token` or `apiKey`, else `SANDPIT_TOKEN` or `SANDPIT_API_KEY`, else the demo
 * credentials of that directory. Sends no request yet. Throws without credentials.
 */
export async function connect(given: Partial<Access> & TransportOptions = {}): Promise<Sandpit> {
  const { url, token, apiKey, ...options } = given;
  const environment = typeof process === 'undefined' ? {} : process.env;
  const demo = await demoAccess(environment['DATA_DIR'] ?? './data');
  const where = url ?? environment['SANDPIT_URL'] ?? demo?.url ?? DEFAULT_URL;
  if (token !== undefined || apiKey !== undefined)
    return new Sandpit(accessOf(where, token, apiKey), options);
  const { SANDPIT_TOKEN, SANDPIT_API_KEY } = environment;
  if (SANDPIT_TOKEN !== undefined || SANDPIT_API_KEY !== undefined)
    return new Sandpit(accessOf(where, SANDPIT_TOKEN, SANDPIT_API_KEY), options);
  if (demo === undefined)
    throw new SandpitError(
      'No credentials: set SANDPIT_TOKEN or SANDPIT_API_KEY, or run in the directory of a server, beside its ./data (sandpit up)',
    );
  return new Sandpit({ ...demo, url: where }, options);
}

const accessOf = (url: string, token: string | undefined, apiKey: string | undefined): Access => ({
  url,
  ...(token !== undefined && { token }),
  ...(apiKey !== undefined && token === undefined && { apiKey }),
});

/** The demo credentials in a data directory; undefined in a browser, and if there are none. */
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
