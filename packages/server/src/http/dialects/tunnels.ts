/** Connections of plain bytes inside WebSockets, for programs that offer a dialect's port on another machine. */
import type {
  Book,
  Credential,
  Dialect,
  PortConnection,
  PortRefusal,
  SocketEnd,
} from '@sandpit/dialect-port';
import type { FastifyBaseLogger } from 'fastify';
import { countedAs } from '../auth.js';
import { RateLimits } from '../rate-limit.js';
import type { EntryDeps } from './entry.js';
import type { Placement } from './ports.js';
import { DialectVisit, type VisitDeps } from './visits.js';
import type { PendingLogin } from './sockets.js';

/** The path of tunnels behind a dialect's prefix. */
export const TUNNEL = /^\/tunnel$/;

/** Bytes that a client may send before it is answered. */
const MOST_EARLY_BYTES = 65_536;

interface TunnelDeps extends VisitDeps, Pick<EntryDeps, 'settings' | 'monotonicMs'> {
  readonly log?: FastifyBaseLogger | undefined;
  /** In a cluster. */
  readonly placement?: Placement | undefined;
}

/** The first message: a token, or id and secret of a key pair with a dot between them, and the portfolio. */
interface Hello {
  readonly credential: Credential;
  readonly portfolioId: string;
}

function helloIn(bytes: Uint8Array): Hello | undefined {
  try {
    const { token, portfolioId } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Readonly<
      Record<string, unknown>
    >;
    if (typeof token !== 'string' || typeof portfolioId !== 'string') return undefined;
    const [, keyId, secret] = /^(PK[A-Z0-9]{1,40})\.([A-Za-z0-9]{1,80})$/.exec(token) ?? [];
    const credential: Credential =
      keyId === undefined || secret === undefined
        ? { kind: 'TOKEN', token }
        : { kind: 'KEY_PAIR', keyId, secret };
    return { credential, portfolioId };
  } catch {
    return undefined;
  }
}

const WHY: Readonly<Record<SocketEnd, string>> = {
  late: 'no login within ten seconds',
  unauthorized: 'the credential is not valid',
  'too-many': 'too many connections',
  unavailable: 'service unavailable',
};

/** Opens tunnels of a dialect. Answers the first message with `{ open: true }` or `{ error }`; later messages are bytes. */
export function tunnelsOf(dialect: Dialect, listener: NonNullable<Dialect['listener']>, deps: TunnelDeps) {
  const limits = new RateLimits();
  return (pending: PendingLogin): void => {
    const visit = new DialectVisit(pending, deps);
    const fail = (error: string, code = 1008): void => {
      visit.tell(JSON.stringify({ error }));
      visit.close(code, error);
    };
    const login = visit.login((why) => fail(WHY[why], why === 'unauthorized' ? 1008 : 1013));
    const early: Uint8Array[] = [];
    let earlyBytes = 0;
    let hear: ((bytes: Uint8Array) => void) | undefined;
    let isFirst = true;
    visit.onMessage((bytes) => {
      if (isFirst) {
        isFirst = false;
        void enter(bytes);
      } else if (hear !== undefined) hear(bytes);
      else {
        earlyBytes += bytes.length;
        if (earlyBytes > MOST_EARLY_BYTES) fail('too many bytes before the answer to the login');
        else early.push(bytes);
      }
    });

    async function enter(bytes: Uint8Array): Promise<void> {
      const hello = helloIn(bytes);
      if (hello === undefined) {
        fail('the first message has token and portfolioId');
        return;
      }
      if ((await login.attempt(hello.credential)) !== true) return;
      const { desk, book } = login;
      const isOther = book !== undefined && book.portfolioId !== hello.portfolioId;
      const opened: Book | undefined = isOther ? undefined : desk?.book(hello.portfolioId);
      const principal = login.principal;
      if (opened === undefined || principal === undefined) {
        fail('portfolio not found');
        return;
      }
      visit.tell(JSON.stringify({ open: true }));
      login.strike();
      const connection: PortConnection = {
        onBytes: (listen) => {
          hear = listen;
          for (const one of early.splice(0)) listen(one);
        },
        onClose: (listen) => visit.onClose(listen),
        open: (): Promise<Book | PortRefusal> => Promise.resolve(opened),
        write: (message) => {
          // The tenant may have another owner by now, and this state is old.
          if (deps.placement?.owns(principal.tenantId) === false) return visit.close(1013, 'unavailable');
          visit.tellEvents([message], (passed) => passed);
        },
        count: (kind) =>
          limits
            .ofTenant(`${dialect.prefix} ${kind}`, countedAs(principal), deps.settings.rateLimitDefault)
            .take(deps.monotonicMs()),
        end: () => visit.close(1000, 'ended'),
        report: (error) => deps.log?.error({ err: error }, 'request failed'),
      };
      listener(connection);
    }
  };
}
