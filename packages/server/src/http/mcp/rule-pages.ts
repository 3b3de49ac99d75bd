/** The rule pages in `docs/rules/`, of a checkout or of the installed package. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PREFIX = 'sandpit://rules/';

const PLACE = '../../../../../docs/rules/';

export interface RulePage {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

let pages: readonly RulePage[] | undefined;

/** All pages, read once. */
export function rulePages(): readonly RulePage[] {
  if (pages === undefined) {
    const place = fileURLToPath(new URL(PLACE, import.meta.url));
    const files = existsSync(place) ? readdirSync(place).filter((file) => file.endsWith('.md')) : [];
    pages = files.sort().map((file) => {
      const text = readFileSync(place + file, 'utf8');
      const name = file.slice(0, -'.md'.length);
      return { uri: PREFIX + name, name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text: linked(text) };
    });
  }
  return pages;
}

/** The text of a page with links that hold outside its folder: links to other rule pages become their URIs, other relative ones plain text. */
const linked = (text: string): string =>
  text.replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, (link: string, label: string, target: string) => {
    if (/^[a-z]+:/.test(target)) return link;
    const page = /^([\w-]+)\.md(#[\w-]+)?$/.exec(target);
    return page === null ? label : `[${label}](${PREFIX}${page[1] ?? ''}${page[2] ?? ''})`;
  });
