/** `vitepress build` for the documentation site, when a page, the site's own sources or the versions of libraries changed. */
import { constants, setPriority } from 'node:os';
import { whenChanged } from '../../scripts/when-changed.js';

const here = import.meta.dirname;
const inputs = [
  '.vitepress/config.js',
  '.vitepress/theme',
  'markdown.js',
  'sidebar.js',
  '../../package-lock.json',
];

await whenChanged(here, [...inputs, '../../docs'], async () => {
  // `npm start` serves meanwhile.
  setPriority(constants.priority.PRIORITY_LOW);
  const { build } = await import('vitepress');
  // VitePress reports its progress; standard output belongs to the command that builds first.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  await build(here);
});
