import { randomBytes } from 'node:crypto';

const TTL_MS = 600_000;

/** Links that open the dashboard without a password: each valid once and for ten minutes. */
export class LoginLinks {
  readonly #monotonicMs: () => number;
  readonly #issueToken: () => Promise<string | undefined>;
  readonly #open = new Map<string, number>();

  /** `issueToken` issues the token for a link; undefined if its owner has lost access. */
  constructor(monotonicMs: () => number, issueToken: () => Promise<string | undefined>) {
    this.#monotonicMs = monotonicMs;
    this.#issueToken = issueToken;
  }

  /** The code of a new link. */
  draw(): string {
    const code = randomBytes(32).toString('base64url');
    this.#open.set(code, this.#monotonicMs() + TTL_MS);
    return code;
  }

  /** Uses a code up. Resolves to a token; undefined when the code is unknown, used or too old. */
  async redeem(code: string): Promise<string | undefined> {
    const expiresAtMs = this.#open.get(code);
    this.#open.delete(code);
    if (expiresAtMs === undefined || expiresAtMs <= this.#monotonicMs()) return undefined;
    return this.#issueToken();
  }
}
