/** Routes that are registered when they are first requested: a start does not wait for parts that few clients use. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { failed } from './reply.js';

interface Part {
  readonly prefix: string;
  readonly create: () => Promise<FastifyInstance>;
  /** Since its first request. */
  opening?: Promise<FastifyInstance> | undefined;
  opened?: FastifyInstance;
}

/** Everything before the path of a request line in absolute form. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** Parts of the HTTP surface by their prefixes. Each has an instance with its own router. */
export class LateRoutes {
  readonly #parts: Part[] = [];

  /** `create` registers the routes, with their prefix. It is called once, unless it fails. */
  add(prefix: string, create: () => Promise<FastifyInstance>): void {
    this.#parts.push({ prefix, create });
  }

  /** Passes a request that was not handled yet on to the part under whose prefix it is; false if there is none. */
  serve(request: FastifyRequest, reply: FastifyReply): boolean {
    const part = this.#partOf(request.raw.url ?? '/');
    if (part === undefined) return false;
    if (part.opened !== undefined) passOn(part.opened, request, reply);
    else
      this.#open(part).then(
        (opened) => passOn(opened, request, reply),
        (error: unknown) => failed(request, reply, error),
      );
    return true;
  }

  /** Closes the instances. */
  async close(): Promise<void> {
    const opening = this.#parts.map(async (part) => (await part.opening)?.close());
    await Promise.allSettled(opening);
  }

  #open(part: Part): Promise<FastifyInstance> {
    return (part.opening ??= this.#create(part));
  }

  async #create(part: Part): Promise<FastifyInstance> {
    try {
      const created = await part.create();
      await created.ready();
      return (part.opened = created);
    } catch (error) {
      part.opening = undefined;
      throw error;
    }
  }

  #partOf(url: string): Part | undefined {
    if (url.startsWith('/v1/')) return undefined;
    const path = pathOf(url);
    return this.#parts.find(
      ({ prefix }) => path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length)),
    );
  }
}

/** The path as the router reads it: without an origin, decoded. */
function pathOf(url: string): string {
  const path = url.startsWith('/') ? url : url.replace(ORIGIN, '');
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    // The router refuses it.
    return path;
  }
}

function passOn(part: FastifyInstance, request: FastifyRequest, reply: FastifyReply): void {
  // The client has left while the part was opened.
  if (reply.raw.destroyed) return;
  reply.hijack();
  part.routing(request.raw, reply.raw);
}
