/** The folder of the compiled modules, as seen from this file in the sources and from its compiled form. */
const COMPILED = import.meta.url.endsWith('.ts') ? '../../dist/' : '../';

/**
 * URL of a compiled module of the server, given its path in `dist/`. Threads run compiled code even where the process runs the sources
 * (tools that strip types): that of the last build.
 */
export const compiledUrl = (path: string): URL => new URL(`${COMPILED}${path}`, import.meta.url);
