/** Trading halts: those in force, and a form for another. */
import type { Halt } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Field, Select } from '../parts/field.tsx';
import { Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';

const REASONS = [
  ['LUDP', 'LUDP: volatility pause, five minutes'],
  ['LUDS', 'LUDS: straddle pause, five minutes'],
  ['M', 'M: volatility pause of the exchange, five minutes'],
  ['T1', 'T1: news pending'],
  ['T2', 'T2: news released'],
  ['T12', 'T12: additional information requested'],
  ['H10', 'H10: SEC trading suspension'],
  ['MWC1', 'MWC1: market-wide, level 1, 15 minutes'],
  ['MWC2', 'MWC2: market-wide, level 2, 15 minutes'],
  ['MWC3', 'MWC3: market-wide, level 3, to the close'],
] as const;

export function Halts() {
  const broker = useBroker();
  const halts = useLoad(() => broker.call('listHalts', { query: { limit: 500 } }), [broker.simulationId]);
  useClockMoves(halts.reload);
  const [symbol, setSymbol] = useState('');
  const [reason, setReason] = useState<string>('LUDP');
  const [minutes, setMinutes] = useState('');
  const [error, setError] = useState<Error>();
  const isMarketWide = reason.startsWith('MWC');
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(halts.reload, (problem: unknown) => setError(errorFrom(problem)));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    after(
      broker.call('haltTrading', {
        body: {
          symbol: isMarketWide ? '*' : symbol.trim().toUpperCase(),
          reason,
          ...(minutes !== '' && !isMarketWide && { for: `PT${minutes}M` }),
        },
      }),
    );
  };
  return (
    <>
      <p class="why">
        While trading in a symbol is halted, no order in it or in its options fills or triggers. Orders are
        accepted and wait.
      </p>
      {broker.controlsMarket && (
        <form class="panel grid" onSubmit={submit} aria-label="Halt trading">
          {!isMarketWide && (
            <Field name="Symbol, or * for all" value={symbol} onChange={setSymbol} placeholder="AAPL" />
          )}
          <Select name="Reason" plain isDouble value={reason} options={REASONS} onChange={setReason} />
          {!isMarketWide && (
            <Field
              name="Minutes"
              value={minutes}
              onChange={setMinutes}
              inputMode="numeric"
              placeholder="default of the reason"
            />
          )}
          <button type="submit" class="primary" disabled={!isMarketWide && symbol.trim() === ''}>
            Halt trading
          </button>
        </form>
      )}
      {error !== undefined && <Refusal error={error} />}
      {halts.error !== undefined && <Problem error={halts.error} retry={halts.reload} />}
      {halts.value?.data.length === 0 && <p class="notice">Nothing is halted.</p>}
      {halts.value !== undefined && halts.value.data.length > 0 && (
        <Table
          label="Halts"
          rows={halts.value.data}
          keyOf={({ symbol: of, since }) => `${of} ${since}`}
          columns={[
            { title: 'Symbol', cell: ({ symbol: of }: Halt) => (of === '*' ? 'All' : of) },
            { title: 'Reason', cell: ({ reason: code }: Halt) => code },
            { title: 'Since', cell: ({ since }: Halt) => moment(since) },
            { title: 'Until', cell: ({ until }: Halt) => (until === undefined ? 'lifted' : moment(until)) },
            {
              title: 'Lift',
              cell: ({ symbol: of }: Halt) =>
                broker.controlsMarket && (
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Lift the halt of ${of === '*' ? 'all symbols' : of}`}
                    onClick={() => after(broker.call('liftHalt', { params: { symbol: of } }))}
                  >
                    lift
                  </button>
                ),
            },
          ]}
        />
      )}
    </>
  );
}
