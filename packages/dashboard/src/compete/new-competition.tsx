/** The form that creates a competition: its market, its rules, and who may enter. */
import {
  type AssetClass,
  assetClasses,
  clockModes,
  type CompetitionBody,
  feeds,
  portfolioTypes,
  scorings,
} from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { instantInNewYork, numberTyped, words } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Field, Select } from '../parts/field.tsx';
import { Empty, Refusal } from '../parts/notice.tsx';
import { go, hrefOf } from '../route.ts';
import { keepToken, MAIN } from '../session.ts';
import type { Member } from './member.ts';
import { ASSETS } from './rules-text.ts';

const EMPTY = {
  name: '',
  feed: 'synthetic',
  clock: 'scaled',
  speed: '60',
  start: '2026-01-05T09:30',
  end: '2026-01-09T16:00',
  seed: '',
  cash: '100,000',
  portfolioType: 'MARGIN',
  brokerId: 'default',
  symbols: '',
  position: '',
  orders: '',
  dailyLoss: '',
  drawdown: '',
  shorts: 'broker',
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  capacity: '',
  perTenant: '1',
  visibility: 'PRIVATE',
};
type Typed = typeof EMPTY;

/** The request of a form. Empty fields are omitted; the server checks the rest. */
function bodyOf(typed: Typed, allowed: readonly AssetClass[]): CompetitionBody {
  const number = (name: keyof Typed, field: string): object => {
    const value = numberTyped(typed[name]);
    return value === undefined ? {} : { [field]: value };
  };
  const symbols = typed.symbols.split(/[\s,]+/).filter((symbol) => symbol !== '');
  const { feed, clock, start, end, seed, portfolioType, brokerId, scoring, entry, visibility } = typed;
  return {
    name: typed.name.trim(),
    market: {
      feed,
      clock,
      start: instantInNewYork(start) ?? start,
      end: instantInNewYork(end) ?? end,
      ...(clock === 'scaled' && number('speed', 'speed')),
      ...(seed.trim() !== '' && { seed: seed.trim() }),
    },
    rules: {
      ...number('cash', 'initialCash'),
      portfolioType,
      brokerId,
      assetClasses: allowed,
      ...(typed.shorts !== 'broker' && { shortSelling: typed.shorts === 'yes' }),
      ...(symbols.length > 0 && { symbols: symbols.map((symbol) => symbol.toUpperCase()) }),
      ...number('position', 'maxPositionPercent'),
      ...number('orders', 'maxOrdersPerMinute'),
      ...number('dailyLoss', 'maxDailyLossPercent'),
      ...number('drawdown', 'trailingDrawdownPercent'),
      ...number('perTenant', 'entriesPerTenant'),
    },
    scoring,
    entry,
    visibility,
    ...number('capacity', 'capacity'),
  } as CompetitionBody;
}

const CLOCKS: Readonly<Record<string, string>> = {
  scaled: 'Runs faster than real time, from the start on.',
  wall: 'Real time: trading opens at the start by itself.',
  manual: 'Stands still until you move it, with the market’s time strip.',
};

export function NewCompetition({ member }: { readonly member: Member | undefined }) {
  if (member?.may('simulate') !== true)
    return <Empty>Creating a competition requires a token with the scope simulate.</Empty>;
  return <Form member={member} />;
}

function Form({ member }: { readonly member: Member }) {
  const [typed, setTyped] = useState(EMPTY);
  const [allowed, setAllowed] = useState<readonly AssetClass[]>(['EQUITY']);
  const [error, setError] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  const brokers = useLoad(() => member.client.call('listBrokers'), []);
  const set = (name: keyof Typed) => (value: string) => setTyped((old) => ({ ...old, [name]: value }));
  const field = (name: keyof Typed, title: string, more: { placeholder?: string; type?: string } = {}) => (
    <Field name={title} value={typed[name]} onChange={set(name)} {...more} />
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    if (typed.name.trim() === '') {
      setError(new Error('Enter a name.'));
      return;
    }
    setIsBusy(true);
    member.client
      .call('createCompetition', { body: bodyOf(typed, allowed) })
      .then(
        ({ competitionId, token }) => {
          keepToken(token);
          go(hrefOf(MAIN, `competitions/${competitionId}`));
        },
        (reason: unknown) => setError(errorFrom(reason)),
      )
      .finally(() => setIsBusy(false));
  };
  return (
    <form onSubmit={submit} aria-label="New competition">
      <section class="panel" aria-label="Competition">
        <div class="grid">
          {field('name', 'Name', { placeholder: 'Spring cup' })}
          <Select
            name="Scoring"
            plain
            value={typed.scoring}
            options={scorings.map((one) => [
              one,
              one === 'TOTAL_RETURN' ? 'Total return' : `${words(one)} ratio`,
            ])}
            onChange={set('scoring')}
          />
          <Select
            name="Who may enter"
            plain
            value={typed.entry}
            options={[
              ['OPEN', 'Everyone with a token'],
              ['CODE', 'Only with the join code'],
            ]}
            onChange={set('entry')}
          />
          <Select
            name="Who may watch"
            plain
            value={typed.visibility}
            options={[
              ['PRIVATE', 'You and the entrants'],
              ...(member.may('admin') ? ([['PUBLIC', 'Everyone, without an account']] as const) : []),
            ]}
            onChange={set('visibility')}
          />
          {field('capacity', 'Most entries', { placeholder: '10,000' })}
          {field('perTenant', 'Entries per tenant')}
        </div>
      </section>
      <section class="panel" aria-label="Market">
        <h2>Market</h2>
        <div class="grid">
          <Select name="Quotes" plain value={typed.feed} options={feeds} onChange={set('feed')} />
          <Select name="Clock" plain value={typed.clock} options={clockModes} onChange={set('clock')} />
          {typed.clock === 'scaled' && field('speed', 'Simulated seconds per second')}
          {field('start', 'Trading begins, ET', { type: 'datetime-local' })}
          {field('end', 'Trading ends, ET', { type: 'datetime-local' })}
          {field('seed', 'Seed', { placeholder: 'drawn' })}
        </div>
        <p class="why">{CLOCKS[typed.clock]}</p>
      </section>
      <section class="panel" aria-label="Rules">
        <h2>Rules</h2>
        <div class="grid">
          {field('cash', 'Initial cash')}
          <Select
            name="Portfolio"
            value={typed.portfolioType}
            options={portfolioTypes}
            onChange={set('portfolioType')}
          />
          <Select
            name="Broker"
            plain
            value={typed.brokerId}
            options={(brokers.value?.data ?? [{ brokerId: 'default', name: 'Default' }]).map(
              ({ brokerId, name }) => [brokerId, name] as const,
            )}
            onChange={set('brokerId')}
          />
          <Select
            name="Short sales"
            plain
            value={typed.shorts}
            options={[
              ['broker', 'As the broker allows'],
              ['no', 'Not allowed'],
            ]}
            onChange={set('shorts')}
          />
          {field('symbols', 'Symbols', { placeholder: 'all' })}
          {field('position', 'Largest position, % of equity', { placeholder: 'no limit' })}
          {field('orders', 'Orders per minute', { placeholder: 'no limit' })}
          {field('dailyLoss', 'Daily loss that eliminates, %', { placeholder: 'none' })}
          {field('drawdown', 'Drawdown that eliminates, %', { placeholder: 'none' })}
        </div>
        <fieldset class="choices">
          <legend>Assets</legend>
          {assetClasses.map((one) => (
            <label key={one} class="inline">
              <input
                type="checkbox"
                checked={allowed.includes(one)}
                onChange={() =>
                  setAllowed((old) =>
                    old.includes(one) ? old.filter((kept) => kept !== one) : [...old, one],
                  )
                }
              />{' '}
              {ASSETS[one]}
            </label>
          ))}
        </fieldset>
        <p class="why">Market, rules and scoring are fixed once the first entry exists.</p>
      </section>
      {error !== undefined && <Refusal error={error} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          Create competition
        </button>
      </div>
    </form>
  );
}
