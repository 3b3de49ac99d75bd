/** The folder of the compiled modules, as seen from this file in the sources and from its compiled form. */
const COMPILED = import.meta.url.endsWith('.ts') ? '../../dist/' : '../';

/**
 * URL of a compiled module of the server, given its path in `dist/`. Threads run compiled code of the last build even if the process runs
 * the sources (tools that strip types).
 */
export const compiledUrl = (path: string): URL => new URL(`${COMPILED}${path}`, import.meta.url);
