import { defineConfig } from 'vite';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    // The policy of the page forbids `data:` scripts, and a small file costs nothing on loopback.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What the client does in Node alone: nothing of it is left in the page.
    rolldownOptions: { external: ['node:fs/promises'] },
  },
});
