export type { EmbeddedBroker, EmbeddedOptions } from './embed.js';
export { embedded } from './embed.js';
