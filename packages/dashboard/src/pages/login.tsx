import { useEffect, useRef, useState } from 'preact/hooks';
import { go, hrefOf, type DashboardRoute } from '../route.ts';
import { claimsOf, isExpired, keepToken } from '../session.ts';

/** Form for a token. */
export function Login({ place }: { readonly place: DashboardRoute }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = text.trim().replace(/^Bearer\s+/i, '');
    const claims = claimsOf(token);
    if (claims === undefined)
      return setProblem('This is not a token. A token has three parts separated by dots.');
    if (claims.expiresAtMs <= Date.now()) return setProblem('That token has expired. Get another one.');
    const simulationId = keepToken(token) ?? claims.simulationId;
    const isHere = simulationId === place.simulationId && place.path[0] !== 'login';
    if (isHere) location.reload();
    else go(hrefOf(simulationId, ''));
  };
  return (
    <main class="alone card">
      <h1>Sandpit</h1>
      <p>A simulated brokerage. Nothing here is real money.</p>
      {isExpired(place.simulationId) && (
        <p class="notice" role="status">
          Your saved token has expired. Enter another one to continue.
        </p>
      )}
      <form onSubmit={submit} class="stack">
        <label for="token">Token</label>
        <textarea
          id="token"
          ref={field}
          rows={4}
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') submit(event);
          }}
        />
        {problem !== '' && (
          <p role="alert" class="down">
            {problem}
          </p>
        )}
        <button type="submit" class="primary">
          Log in
        </button>
      </form>
      <p class="dim">
        The server prints a link at its start that needs no token. To create a token, run{' '}
        <code>npm run -s token -- --tenant NAME --tier PRO</code>; the demo tenant’s token is in{' '}
        <code>demo-credentials.json</code> in the data directory.
      </p>
    </main>
  );
}

/** Exchanges the code of a login link for a token. */
export function LoginLink({ code }: { readonly code: string }) {
  const [problem, setProblem] = useState('');
  useEffect(() => {
    // Once only: it must not stay in the history.
    history.replaceState(null, '', hrefOf('main', 'login'));
    exchange(code).then(
      (token) => {
        if (token === undefined)
          setProblem(
            'This link was used already, is older than ten minutes, or was issued on another machine.',
          );
        else go(hrefOf(keepToken(token) ?? 'main', ''));
      },
      () => setProblem('The server does not answer. Is it running?'),
    );
  }, [code]);
  return (
    <main class="alone">
      <h1>Sandpit</h1>
      {problem === '' ? (
        <p role="status">Opening …</p>
      ) : (
        <>
          <p role="alert">{problem}</p>
          <p>
            Restart the server for another link, or <a href={hrefOf('main', '')}>paste a token</a>.
          </p>
        </>
      )}
    </main>
  );
}

async function exchange(code: string): Promise<string | undefined> {
  const response = await fetch('/dashboard/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) return undefined;
  return ((await response.json()) as { readonly token?: string }).token;
}
