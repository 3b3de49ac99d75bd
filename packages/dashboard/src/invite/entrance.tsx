/** The pages behind the links of invitations: joining by a name, and logging in again. Neither does anything before its button is used. */
import { useEffect, useState } from 'preact/hooks';
import { errorFrom } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Field } from '../parts/field.tsx';
import { hrefOf } from '../route.ts';
import { claimsOf, keepToken, MAIN, tokenFor } from '../session.ts';
import { ThemeMenu } from '../shell/theme-menu.tsx';
import { joinedAs, keepJoined } from './joined.ts';

/** Time for which a join is repeated while many join at the same moment. */
const PATIENCE_MS = 60_000;

interface Invitation {
  readonly name: string;
  readonly status: 'OPEN' | 'FULL' | 'EXPIRED' | 'DELETED';
  readonly isCompetition: boolean;
}

interface Access {
  readonly token: string;
  readonly tenantId: string;
  readonly portfolioId: string;
  readonly simulationId?: string;
}

interface Joined extends Access {
  readonly returnUrl: string;
}

export function Entrance({ door, code }: { readonly door: 'join' | 'return'; readonly code: string }) {
  return (
    <>
      <header class="banner">
        <div class="strip">
          <span class="brand">Sandpit</span>
          <strong class="simulated">SIMULATED</strong>
          <span class="inline tools">
            <ThemeMenu />
          </span>
        </div>
      </header>
      <main class="alone card">{door === 'join' ? <Join code={code} /> : <Return code={code} />}</main>
    </>
  );
}

/** Sends a body without a token. Throws with a sentence for people. */
async function post<Answer>(
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    const isBusy = response === undefined || response.status === 429 || response.status === 503;
    if (isBusy && Date.now() < giveUpAt) {
      const seconds = Number(response?.headers.get('retry-after') ?? 1);
      // A long wait is for wrong codes, not for a crowd.
      if (seconds <= 5) {
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
        continue;
      }
    }
    if (response === undefined) throw new Error('The server does not answer. Try again in a moment.');
    const answer = (await response.json()) as Answer & { readonly message?: string | readonly string[] };
    if (response.ok) return answer;
    throw new Error(sentenceOf(response.status, answer.message));
  }
}

function sentenceOf(status: number, message: string | readonly string[] | undefined): string {
  if (status === 404) return 'This link is not valid. Ask the person who sent it for another one.';
  if (status === 429) return 'Too many wrong links from this address. Wait a minute and try again.';
  const text = Array.isArray(message) ? message.join('. ') : String(message ?? status);
  return `${text.replace(/^displayName /, 'The name ')}.`;
}

const CLOSED: Readonly<Record<string, string>> = {
  FULL: 'Everyone who was invited has joined: this link has no place left.',
  EXPIRED: 'This link has expired.',
};

function Join({ code }: { readonly code: string }) {
  const [invitation, setInvitation] = useState<Invitation>();
  const [name, setName] = useState('');
  const [attempt] = useState(() => crypto.randomUUID());
  const [joined, setJoined] = useState<Joined>();
  const [error, setError] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  useEffect(() => {
    post<Invitation>('/dashboard/invitation', { code }).then(setInvitation, (reason: unknown) =>
      setError(errorFrom(reason)),
    );
  }, [code]);
  const known = joinedAs(code);
  const displayName = name.trim();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isBusy) return;
    setError(undefined);
    setIsBusy(true);
    // Another name is another request.
    const headers = { 'idempotency-key': `${attempt}-${encodeURIComponent(displayName).slice(0, 200)}` };
    post<Joined>('/v1/invitations/join', { code, displayName }, headers)
      .then(
        (answer) => {
          keepToken(answer.token);
          keepJoined(code, { displayName, tenantId: answer.tenantId, ...placeOf(answer) });
          // The code must not stay in the history of a shared machine.
          history.replaceState(null, '', '/');
          setJoined(answer);
        },
        (reason: unknown) => setError(errorFrom(reason)),
      )
      .finally(() => setIsBusy(false));
  };
  useEffect(() => {
    document.title = `${invitation?.name ?? 'Invitation'} · Sandpit`;
  }, [invitation]);
  if (joined !== undefined) return <Welcome joined={joined} displayName={displayName} />;
  return (
    <>
      <h1>{invitation?.name ?? 'Invitation'}</h1>
      <p>A simulated brokerage. Nothing here is real money.</p>
      {known !== undefined && (
        <p class="notice">
          This browser has joined as <strong>{known.displayName}</strong>.{' '}
          <a href={`/${hrefOf(known.simulationId, 'trade', { portfolio: known.portfolioId })}`}>
            Continue as {known.displayName}
          </a>
        </p>
      )}
      {invitation !== undefined && invitation.status !== 'OPEN' && (
        <p class="notice problem" role="alert">
          {CLOSED[invitation.status]}
        </p>
      )}
      {invitation?.status === 'OPEN' && (
        <form onSubmit={submit} class="stack" aria-label="Join">
          <Field
            name="Your name"
            value={name}
            onChange={setName}
            placeholder="Ada Lovelace"
            note={
              invitation.isCompetition
                ? 'Everyone sees it on the leaderboard.'
                : 'The person who invited you sees it, other members do not.'
            }
          />
          <LoginNotice known={known?.tenantId} />
          <button type="submit" class="primary" disabled={isBusy || displayName === ''}>
            {isBusy ? 'Joining …' : 'Join'}
          </button>
        </form>
      )}
      {error !== undefined && (
        <p class="notice problem" role="alert">
          {error.message}
        </p>
      )}
    </>
  );
}

/** A login of this browser that joining replaces. */
function LoginNotice({ known }: { readonly known: string | undefined }) {
  const tenantId = claimsOf(tokenFor(MAIN) ?? '')?.tenantId;
  return tenantId === undefined || tenantId === known ? null : (
    <p class="notice">
      This browser is logged in as <strong>{tenantId}</strong>. Joining replaces that login; a private window
      keeps it.
    </p>
  );
}

const placeOf = ({ simulationId = MAIN, portfolioId }: Access) => ({ simulationId, portfolioId });

function Welcome({ joined, displayName }: { readonly joined: Joined; readonly displayName: string }) {
  const { simulationId, portfolioId } = placeOf(joined);
  return (
    <>
      <h1>Welcome, {displayName}</h1>
      <p>
        This browser stays logged in for 30 days. Keep the link below to log in from any other browser: it is
        shown only now. A person who has it trades as you.
      </p>
      <p class="notice">
        <code class="breaking">{joined.returnUrl}</code>
        <Copy name="Copy the link" text={joined.returnUrl} />
      </p>
      <p>
        <button type="button" class="primary" onClick={() => openDashboard(simulationId, portfolioId)}>
          Start trading
        </button>
      </p>
    </>
  );
}

/** Loads the dashboard instead of this page, whose code would stay in the history. */
function openDashboard(simulationId: string, portfolioId: string): void {
  history.replaceState(null, '', `/${hrefOf(simulationId, 'trade', { portfolio: portfolioId })}`);
  location.reload();
}

function Return({ code }: { readonly code: string }) {
  const [error, setError] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  const logIn = (): void => {
    setError(undefined);
    setIsBusy(true);
    post<Access>('/v1/invitations/return', { code }).then(
      (answer) => {
        keepToken(answer.token);
        const { simulationId, portfolioId } = placeOf(answer);
        openDashboard(simulationId, portfolioId);
      },
      (reason: unknown) => {
        setError(errorFrom(reason));
        setIsBusy(false);
      },
    );
  };
  return (
    <>
      <h1>Log in</h1>
      <p>This link opens your portfolio in this browser, for 30 days.</p>
      <LoginNotice known={undefined} />
      <p>
        <button type="button" class="primary" disabled={isBusy} onClick={logIn}>
          {isBusy ? 'Opening …' : 'Log in'}
        </button>
      </p>
      {error !== undefined && (
        <p class="notice problem" role="alert">
          {error.message}
        </p>
      )}
    </>
  );
}
