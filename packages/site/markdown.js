/** Rules of Markdown that the site adds to VitePress's own, so that the pages stay plain Markdown elsewhere. */
import { posix } from 'node:path';

/** The anchor of a heading in GitHub's spelling, which links between the pages use. */
export const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/\s/g, '-');

const LABELED_BLOCK = /^(curl|TypeScript|JavaScript|Python):\n\n```(\w+)\n([\s\S]*?)^```\n\n?/gm;
const LABELED_BLOCKS = new RegExp(`(?:${LABELED_BLOCK.source}){2,}`, 'gm');

/** Shows blocks of code that follow each other, each under the name of its language, as tabs. */
export function groupTabs(md) {
  md.core.ruler.before('normalize', 'group_tabs', (state) => {
    state.src = state.src.replace(LABELED_BLOCKS, (blocks) => {
      const tabs = blocks.replace(LABELED_BLOCK, '```$2 [$1]\n$3```\n\n');
      return `::: code-group\n\n${tabs}:::\n\n`;
    });
  });
}

/** Shows links to files outside `docs/` as text: the site has the pages alone. */
export function keepLinksInside(md) {
  md.core.ruler.after('inline', 'keep_links_inside', ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath ?? 'index.md');
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          isOutside = !/^(\w+:|#|\/)/.test(href) && posix.join(folder, href).startsWith('..');
          if (!isOutside) token.attrSet('href', href.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md'));
        }
        if (isOutside && (token.type === 'link_open' || token.type === 'link_close')) {
          if (token.type === 'link_close') isOutside = false;
          Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0, attrs: null });
        }
      }
    }
  });
}
