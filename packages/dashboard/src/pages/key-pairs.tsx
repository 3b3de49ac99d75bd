/** Further credentials: key pairs of portfolios, and how an operator creates API keys. */
import { type CreatedKeyPair, type KeyPair, type Scope, scopes } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { PortfolioChoice, portfoliosOf } from '../parts/portfolio-choice.tsx';
import { Table } from '../parts/table.tsx';
import type { DashboardRoute } from '../route.ts';

const MEANING: Readonly<Record<Scope, string>> = {
  read: 'read all data of the tenant',
  trade: 'open portfolios, place, change and cancel orders',
  simulate: 'create simulations, and control their clock and market',
  admin: 'control the clock and the market of the main simulation, for all tenants; public competitions',
  operator: 'see the nodes and all tenants of the server',
};

/** Scopes of this token. */
export function Scopes() {
  const { claims } = useBroker();
  return (
    <ul class="plain">
      {scopes.map((scope) => (
        <li key={scope}>
          <span class={claims.scopes.has(scope) ? 'up' : 'dim'}>
            {claims.scopes.has(scope) ? '✓' : '–'} <code>{scope}</code>
          </span>{' '}
          {MEANING[scope]}
        </li>
      ))}
    </ul>
  );
}

export function KeyPairs({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const portfolios = useLoad(() => portfoliosOf(broker, undefined), [broker.simulationId]);
  const ids = portfolios.value?.map(({ portfolioId }) => portfolioId) ?? [];
  const asked = place.query.get('portfolio') ?? '';
  const portfolioId = ids.includes(asked) ? asked : (ids[0] ?? '');
  return (
    <section aria-label="Keys">
      <p>
        A key pair gives clients that log in with a key and a secret access to one portfolio, at{' '}
        <code>/alpaca</code>. API keys give access to a whole tenant; the operator creates and revokes them on
        the server’s machine.
      </p>
      <ApiKeyCommands />
      {portfolios.error !== undefined && <Problem error={portfolios.error} retry={portfolios.reload} />}
      {portfolios.value !== undefined && ids.length === 0 && (
        <Empty>Open a portfolio first: a key pair belongs to one portfolio.</Empty>
      )}
      {portfolioId !== '' && (
        <>
          <div class="grid">
            <PortfolioChoice portfolios={portfolios.value ?? []} value={portfolioId} />
          </div>
          <PairsOf key={portfolioId} portfolioId={portfolioId} />
        </>
      )}
    </section>
  );
}

function ApiKeyCommands() {
  const { claims } = useBroker();
  const create = `npm run -s keys -- create --tenant ${claims.tenantId} --tier ${claims.tier} --scope "${[...claims.scopes].join(' ')}"`;
  const list = `npm run -s keys -- list --tenant ${claims.tenantId}`;
  return (
    <ul class="plain">
      {[create, list, 'npm run -s keys -- revoke KEY_ID'].map((command) => (
        <li key={command}>
          <code>{command}</code> <Copy name="copy" of={command} text={command} />
        </li>
      ))}
    </ul>
  );
}

function PairsOf({ portfolioId }: { readonly portfolioId: string }) {
  const broker = useBroker();
  const params = { portfolioId };
  const pairs = useLoad(() => broker.call('listKeyPairs', { params }), [portfolioId]);
  const [created, setCreated] = useState<CreatedKeyPair>();
  const [error, setError] = useState<Error>();
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(pairs.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const revoke = ({ keyId }: KeyPair): void => {
    if (!confirm(`Revoke ${keyId}? Its streams end immediately.`)) return;
    if (created?.keyId === keyId) setCreated(undefined);
    after(broker.call('revokeKeyPair', { params: { portfolioId, keyId } }));
  };
  const mayTrade = broker.may('trade');
  return (
    <>
      {mayTrade && (
        <p>
          <button
            type="button"
            onClick={() => after(broker.call('createKeyPair', { params }).then(setCreated))}
          >
            Create key pair
          </button>
        </p>
      )}
      {created !== undefined && (
        <div class="notice" role="status">
          <p>The secret is shown only once.</p>
          <p>
            <code>APCA-API-KEY-ID: {created.keyId}</code>
            <br />
            <code>APCA-API-SECRET-KEY: {created.secretKey}</code>
          </p>
          <Copy name="Copy secret" text={created.secretKey} />
        </div>
      )}
      {error !== undefined && <Refusal error={error} />}
      {pairs.error !== undefined && <Problem error={pairs.error} retry={pairs.reload} />}
      {pairs.value?.length === 0 && <p class="dim">This portfolio has no key pairs.</p>}
      {pairs.value !== undefined && pairs.value.length > 0 && (
        <Table
          label="Key pairs"
          rows={pairs.value}
          keyOf={({ keyId }) => keyId}
          columns={[
            { title: 'Key', cell: ({ keyId }) => <code>{keyId}</code> },
            { title: 'May', cell: ({ scope }) => scope },
            { title: 'Created', isSecondary: true, cell: ({ createdAt }) => moment(createdAt) },
            {
              title: 'Ends',
              isSecondary: true,
              cell: ({ expiresAt }) => (expiresAt === undefined ? 'with its API key' : moment(expiresAt)),
            },
            {
              title: 'Revoke',
              cell: (pair) =>
                mayTrade && (
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Revoke ${pair.keyId}`}
                    onClick={() => revoke(pair)}
                  >
                    revoke
                  </button>
                ),
            },
          ]}
        />
      )}
    </>
  );
}
