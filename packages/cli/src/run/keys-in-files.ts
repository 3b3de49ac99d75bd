/** Files in which a command may find a broker's key in spite of its environment. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isBrokerCredential } from './broker-hosts.js';

const MOST_BYTES = 262_144;
const MOST_FILES = 200;
const CONFIGURATIONS = /^(?:\.env(?:\..+)?|.*\.env|.*\.(?:ini|toml|ya?ml|cfg|conf|json|properties))$/i;
const NOT_OURS = /^(?:package(?:-lock)?|tsconfig.*|composer|deno)\.json$/i;
/** A name and a value: `NAME=value`, `name: value`, `"name": "value"`. */
const SETTING = /["']?([A-Za-z][A-Za-z0-9_-]{3,60})["']?\s*[=:]\s*["']?([^\s"',;#]{8,})/g;
/** Ids of Alpaca's keys. */
const ALPACA_KEY = /\b[AP]K[A-Z0-9]{18}\b/;

export interface KeyInFile {
  readonly path: string;
  /** Name of the setting. */
  readonly name: string;
}

/** Credentials in configuration files of a directory and in files that the command names. Values are never shown. */
export function keysInFiles(directory: string, command: readonly string[]): readonly KeyInFile[] {
  const listed = filesIn(directory).filter((name) => CONFIGURATIONS.test(name) && !NOT_OURS.test(name));
  const named = command.slice(1).filter((word) => !word.startsWith('-'));
  const paths = [...new Set([...listed.slice(0, MOST_FILES), ...named])];
  return paths.flatMap((path) => {
    const text = textOf(resolve(directory, path));
    return text === undefined ? [] : namesIn(text).map((name) => ({ path: basename(path), name }));
  });
}

function namesIn(text: string): readonly string[] {
  const names = new Set<string>();
  for (const [, name = '', value = ''] of text.matchAll(SETTING)) {
    const spelled = name
      .replaceAll('-', '_')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toUpperCase();
    // A variable, a call or a placeholder is no key.
    if (/[(){}$<>[\]]|^(?:os|process|your|my|xxx|changeme|example)/i.test(value)) continue;
    if (isBrokerCredential(spelled) || ALPACA_KEY.test(value)) names.add(name);
  }
  return [...names];
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf(path: string): string | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MOST_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
