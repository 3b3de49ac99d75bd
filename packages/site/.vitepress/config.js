/** The documentation site: the pages under `docs/`, as VitePress shows them at `/docs/`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sidebarOf } from '../sidebar.js';
import { groupTabs, keepLinksInside, slugOf } from '../markdown.js';

const docs = join(import.meta.dirname, '../../../docs');

/** Sets the color scheme before the first paint. The server's content security policy forbids inline scripts. */
const APPEARANCE = `const preference = localStorage.getItem('vitepress-theme-appearance') || 'auto';
const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.classList.toggle('dark', preference === 'auto' ? prefersDark : preference === 'dark');
document.documentElement.classList.toggle('mac', /Mac|iPhone|iPod|iPad/i.test(navigator.platform));
`;

export default {
  title: 'Sandpit',
  description: 'A simulated US brokerage: orders, margin, options and futures over REST, on your machine.',
  lang: 'en-US',
  base: '/docs/',
  srcDir: docs,
  // Notes for contributors, who read them in the repository.
  srcExclude: ['decisions/**'],
  outDir: join(import.meta.dirname, '../dist'),
  cacheDir: join(import.meta.dirname, '../../../node_modules/.cache/vitepress'),
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  metaChunk: true,
  // A test checks every link of the built pages.
  ignoreDeadLinks: true,
  markdown: {
    anchor: { slugify: slugOf },
    config: (md) => {
      groupTabs(md);
      keepLinksInside(md);
    },
  },
  themeConfig: {
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'Tutorials', link: '/tutorials/first-bot', activeMatch: '/tutorials/' },
      { text: 'Rules', link: '/rules/order-types', activeMatch: '/rules/' },
      { text: 'API reference', link: '/api/', target: '_self' },
    ],
    sidebar: sidebarOf(readFileSync(join(docs, 'README.md'), 'utf8')),
    outline: [2, 3],
    search: { provider: 'local' },
  },
  vite: {
    logLevel: 'warn',
    plugins: [
      {
        name: 'no-inline-scripts',
        configResolved: (config) => {
          config.vitepress.site.head = [];
        },
      },
    ],
    build: { reportCompressedSize: false },
  },
  transformHtml: (html) =>
    html.replace('<meta charset="utf-8">', '$&\n    <script src="/docs/appearance.js"></script>'),
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, 'appearance.js'), APPEARANCE),
};
