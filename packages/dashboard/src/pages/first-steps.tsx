/** Page of an empty simulation: an introduction and three ways to begin. */
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { errorFrom } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Refusal } from '../parts/notice.tsx';
import { openDemo, type DemoName, DEMOS } from './demo.ts';

export function FirstSteps({ onNew }: { readonly onNew: () => void }) {
  const broker = useBroker();
  const [error, setError] = useState<Error>();
  const [opening, setOpening] = useState<DemoName>();
  const open = (name: DemoName): void => {
    setError(undefined);
    setOpening(name);
    openDemo(broker, name).catch((reason: unknown) => {
      setOpening(undefined);
      setError(errorFrom(reason));
    });
  };
  return (
    <section aria-label="First steps">
      <p>
        There is no portfolio yet. Everything here is simulated: no order leaves this server, and no money is
        real.
      </p>
      {error !== undefined && <Refusal error={error} />}
      <div class="first-steps">
        {broker.may('simulate') && (
          <section class="panel" aria-label="Look around">
            <h2>Look around</h2>
            <p>
              Opens a simulation with months of trading behind it, on a synthetic market, with a clock that
              you move. It is ready in a second, and you can delete it at any time.
            </p>
            {DEMOS.map(({ name, title, text }, index) => (
              <button
                key={name}
                type="button"
                class={index === 0 ? 'primary' : ''}
                disabled={opening !== undefined}
                title={text}
                onClick={() => open(name)}
              >
                {opening === name ? 'Opening …' : title}
              </button>
            ))}
          </section>
        )}
        {broker.may('trade') && (
          <section class="panel" aria-label="Begin with cash">
            <h2>Begin with cash</h2>
            <p>
              A portfolio has its own cash, rules and broker. Choose CASH for settled cash only, Reg T to
              borrow against positions, or portfolio margin for requirements by risk.
            </p>
            <button type="button" class={broker.may('simulate') ? '' : 'primary'} onClick={onNew}>
              Open a portfolio
            </button>
          </section>
        )}
        <section class="panel" aria-label="Begin with a program">
          <h2>Begin with a program</h2>
          <p>One request opens a portfolio; it appears here within seconds.</p>
          <pre tabIndex={0}>
            <code>{CURL}</code>
          </pre>
          <p class="row">
            <Copy name="Copy" of="the request" text={CURL} />
            <a href="/docs/quickstart">Quickstart</a>
            <a href="/docs/api/">API reference</a>
          </p>
        </section>
      </div>
    </section>
  );
}

const CURL = `curl -sS ${location.origin}/v1/accounts/portfolios \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"accountId":"${crypto.randomUUID()}","portfolioType":"CASH","accountType":"INDIVIDUAL","brokerId":"default"}'`;
