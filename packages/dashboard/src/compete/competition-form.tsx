/** The form of a competition: its market, its rules, and who may enter. */
import {
  assetClasses,
  clockModes,
  feeds,
  fillModels,
  latencyProfiles,
  portfolioTypes,
  scorings,
} from '@sandpit/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { words } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';
import type { Member } from './member.ts';
import { ASSETS } from './rules-text.ts';
import { assetsOf, type TypedCompetition } from './typed-competition.ts';

const CLOCKS: Readonly<Record<string, string>> = {
  scaled: 'Runs faster than real time after the start.',
  wall: 'Real time: trading opens at the start automatically.',
  manual: 'Stands still until you move it in the time strip of the market.',
};

export function CompetitionForm({
  label,
  action,
  initial,
  member,
  isFixed = false,
  onSubmit,
  children,
}: {
  readonly label: string;
  /** Text of the button that sends the form. */
  readonly action: string;
  readonly initial: TypedCompetition;
  readonly member: Member;
  /** True when market, rules and scoring can no longer be edited. */
  readonly isFixed?: boolean;
  readonly onSubmit: (typed: TypedCompetition) => Promise<void>;
  readonly children?: ComponentChildren;
}) {
  const [typed, setTyped] = useState(initial);
  const [error, setError] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  const brokers = useLoad(() => member.client.call('listBrokers'), []);
  const set = (name: keyof TypedCompetition) => (value: string) =>
    setTyped((old) => ({ ...old, [name]: value }));
  const field = (
    name: keyof TypedCompetition,
    title: string,
    more: { placeholder?: string; type?: string } = {},
  ) => <Field name={title} value={typed[name]} onChange={set(name)} {...more} />;
  const figure = (name: keyof TypedCompetition, title: string, more: { placeholder?: string } = {}) => (
    <NumberField name={title} value={typed[name]} onChange={set(name)} {...more} />
  );
  const choice = (
    name: keyof TypedCompetition,
    title: string,
    options: Parameters<typeof Select>[0]['options'],
    isPlain = true,
  ) => <Select name={title} plain={isPlain} value={typed[name]} options={options} onChange={set(name)} />;
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    if (!isValid(event)) return;
    if (typed.name.trim() === '') {
      setError(new Error('Enter a name.'));
      return;
    }
    setIsBusy(true);
    onSubmit(typed)
      .catch((reason: unknown) => setError(errorFrom(reason)))
      .finally(() => setIsBusy(false));
  };
  return (
    <form onSubmit={submit} aria-label={label}>
      <section class="panel" aria-label="Competition">
        <div class="grid">
          {field('name', 'Name', { placeholder: 'Spring cup' })}
          {!isFixed && choice('scoring', 'Scoring', scorings.map(scoringChoice))}
          {choice('entry', 'Who may enter', [
            ['OPEN', 'Everyone with a token'],
            ['CODE', 'Only with the join code'],
          ])}
          {choice('visibility', 'Who may watch', [
            ['PRIVATE', 'You and the entrants'],
            ...(member.may('admin') || initial.visibility === 'PUBLIC'
              ? ([['PUBLIC', 'Everyone, without an account']] as const)
              : []),
          ])}
          {figure('capacity', 'Maximum entries', { placeholder: '10,000' })}
          {!isFixed && figure('perTenant', 'Entries per tenant')}
        </div>
        {isFixed && <p class="why">Market, rules and scoring are fixed: the competition has an entry.</p>}
      </section>
      {!isFixed && (
        <>
          <section class="panel" aria-label="Market">
            <h2>Market</h2>
            <div class="grid">
              {choice('feed', 'Quotes', feeds)}
              {choice('clock', 'Clock', clockModes)}
              {typed.clock === 'scaled' && figure('speed', 'Simulated seconds per second')}
              {field('start', 'Trading begins, ET', { type: 'datetime-local' })}
              {field('end', 'Trading ends, ET', { type: 'datetime-local' })}
              {field('seed', 'Seed', { placeholder: 'random' })}
              {typed.feed === 'replay' &&
                choice('mask', 'Recording', [
                  ['yes', 'Masked: invented tickers, dates and prices'],
                  ['no', 'As recorded'],
                ])}
            </div>
            <p class="why">{CLOCKS[typed.clock]}</p>
          </section>
          <section class="panel" aria-label="Rules">
            <h2>Rules</h2>
            <div class="grid">
              {figure('cash', 'Initial cash')}
              {choice('portfolioType', 'Portfolio', portfolioTypes, false)}
              {choice(
                'brokerId',
                'Broker',
                (brokers.value?.data ?? [{ brokerId: typed.brokerId, name: typed.brokerId }]).map(
                  ({ brokerId, name }) => [brokerId, name] as const,
                ),
              )}
              {choice('shorts', 'Short sales', [
                ['broker', 'As the broker allows'],
                ['no', 'Not allowed'],
                ...(initial.shorts === 'yes' ? ([['yes', 'Allowed']] as const) : []),
              ])}
              {choice('optionLevel', 'Option level', [['', 'Broker default'], '1', '2', '3', '4'])}
              {choice(
                'latency',
                'Latency',
                [['', 'As in the order'], ...latencyProfiles.filter((one) => one !== 'CUSTOM')],
                false,
              )}
              {choice('fillModel', 'Fill model', [['', 'Server default'], ...fillModels])}
              {field('symbols', 'Symbols', { placeholder: 'all' })}
              {figure('position', 'Maximum position, % of equity', { placeholder: 'no limit' })}
              {figure('minPrice', 'Minimum price, $', { placeholder: 'none' })}
              {figure('minTrades', 'Minimum trades to be ranked')}
              {figure('orders', 'Orders per minute', { placeholder: 'no limit' })}
              {figure('dailyLoss', 'Elimination at a daily loss of, %', { placeholder: 'none' })}
              {figure('drawdown', 'Elimination at a drawdown of, %', { placeholder: 'none' })}
            </div>
            <Assets typed={typed} onChange={set('assets')} />
            <p class="why">Market, rules and scoring are fixed once the first entry exists.</p>
          </section>
        </>
      )}
      {error !== undefined && <Refusal error={error} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          {action}
        </button>
        {children}
      </div>
    </form>
  );
}

const scoringChoice = (scoring: (typeof scorings)[number]) =>
  [scoring, scoring === 'TOTAL_RETURN' ? 'Total return' : `${words(scoring)} ratio`] as const;

function Assets({
  typed,
  onChange,
}: {
  readonly typed: TypedCompetition;
  readonly onChange: (assets: string) => void;
}) {
  const allowed = assetsOf(typed);
  return (
    <fieldset class="choices">
      <legend>Assets</legend>
      {assetClasses.map((one) => (
        <label key={one} class="inline">
          <input
            type="checkbox"
            checked={allowed.includes(one)}
            onChange={({ currentTarget }) =>
              onChange(
                [...allowed.filter((kept) => kept !== one), ...(currentTarget.checked ? [one] : [])].join(
                  ' ',
                ),
              )
            }
          />{' '}
          {ASSETS[one]}
        </label>
      ))}
    </fieldset>
  );
}
