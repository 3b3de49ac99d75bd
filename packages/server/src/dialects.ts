/** The dialects of this installation. Each is a package that may be missing. */
import type { Dialect } from '@sandpit/dialect-port';
import { BadSetting } from './config.js';
import type { DialectName } from './dialect-names.js';

/** Imports of the packages, which load only the dialects that are served. */
const PACKAGES: Readonly<Record<DialectName, () => Promise<{ readonly default: Dialect }>>> = {
  alpaca: () => import('@sandpit/dialect-alpaca'),
  'paper-invest': () => import('@sandpit/dialect-paper-invest'),
  schwab: () => import('@sandpit/dialect-schwab'),
  tradier: () => import('@sandpit/dialect-tradier'),
  tws: () => import('@sandpit/dialect-tws'),
};

/** Loads the named dialects; undefined = all that are installed. Throws `BadSetting` for a named one that is not installed. */
export async function loadDialects(names: readonly DialectName[] | undefined): Promise<readonly Dialect[]> {
  const wanted = names ?? (Object.keys(PACKAGES) as DialectName[]);
  const loaded = await Promise.all(wanted.map(load));
  const missing = names?.filter((_, i) => loaded[i] === undefined) ?? [];
  if (missing.length > 0) throw new BadSetting(`DIALECTS: not installed: ${missing.join(', ')}`);
  return loaded.filter((dialect) => dialect !== undefined);
}

async function load(name: DialectName): Promise<Dialect | undefined> {
  try {
    return (await PACKAGES[name]()).default;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A library that a dialect lacks is another error.
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes('@sandpit/dialect-')) return undefined;
    throw error;
  }
}
