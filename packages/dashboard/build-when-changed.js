/** `vite build` for the dashboard, when its sources, the packages it imports or the versions of libraries changed. */
import { join } from 'node:path';
import { whenChanged } from '../../scripts/when-changed.js';

const here = import.meta.dirname;
const inputs = ['index.html', 'vite.config.js', 'package.json', '../../package-lock.json', 'src'];

await whenChanged(here, [...inputs, '../protocol/src', '../client/src'], async () => {
  const { build } = await import('vite');
  await build({ root: here, configFile: join(here, 'vite.config.js'), logLevel: 'warn' });
});
