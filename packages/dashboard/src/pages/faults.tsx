/** Failures of the connection and of the service that a test orders. */
import type { Fault, FaultBody } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped, quantity } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';
import { Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';

const KINDS = [
  ['429', 'Answer 429, too many requests'],
  ['500', 'Answer 500'],
  ['502', 'Answer 502'],
  ['503', 'Answer 503, service unavailable'],
  ['504', 'Answer 504'],
  ['before', 'Drop the connection before the request is processed'],
  ['after', 'Drop the connection after the request is processed'],
  ['delay', 'Delay the request'],
  ['drop', 'Stream: cut the connection'],
  ['stall', 'Stream: send nothing more'],
  ['duplicate', 'Stream: send the last event again'],
] as const;

const METHODS = [['', 'Any'], 'GET', 'POST', 'PUT', 'DELETE'] as const;

function faultOf(kind: string, figure: string): FaultBody['fault'] {
  switch (kind) {
    case 'before':
    case 'after':
      return { drop: kind };
    case 'delay':
      return { delay: `PT${numberTyped(figure) ?? 2}S` };
    case 'drop':
    case 'stall':
    case 'duplicate':
      return { stream: kind, after: numberTyped(figure) ?? 1 };
    default:
      return { status: Number(kind) as 503 };
  }
}

function faultText({ status, retryAfter, delay, drop, stream, after }: Fault['fault']): string {
  if (status !== undefined)
    return `Answers ${status}${retryAfter === undefined ? '' : `, Retry-After ${retryAfter} s`}`;
  if (delay !== undefined) return `Waits ${delay}`;
  if (drop !== undefined)
    return `Drops the connection ${drop === 'before' ? 'before the request is processed' : 'after the request is processed'}`;
  const verb = { drop: 'cuts', stall: 'stalls', duplicate: 'repeats the last event of' }[stream ?? 'drop'];
  return `After ${quantity(after)} events ${verb} the stream`;
}

export function Faults() {
  const broker = useBroker();
  const faults = useLoad(() => broker.call('listFaults', { query: { limit: 500 } }), [broker.simulationId]);
  useEvery(5000, faults.reload);
  const [kind, setKind] = useState<string>('after');
  const [method, setMethod] = useState('POST');
  const [path, setPath] = useState('/v1/orders');
  const [figure, setFigure] = useState('');
  const [times, setTimes] = useState('1');
  const [skip, setSkip] = useState('');
  const [chance, setChance] = useState('');
  const [error, setError] = useState<Error>();
  const isStream = ['drop', 'stall', 'duplicate'].includes(kind);
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(faults.reload, (problem: unknown) => setError(errorFrom(problem)));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isValid(event)) return;
    const [count, skipped, percent] = [times, skip, chance].map(numberTyped);
    const body: FaultBody = {
      match: {
        ...(method !== '' && !isStream && { method: method as 'POST' }),
        ...(path.trim() !== '' && { path: path.trim() }),
      },
      fault: faultOf(kind, figure),
      ...(count !== undefined && { times: count }),
      ...(skipped !== undefined && { skip: skipped }),
      ...(percent !== undefined && { chance: percent / 100 }),
    };
    after(broker.call('createFault', { body }));
  };
  const rows = faults.value?.data ?? [];
  return (
    <>
      <p class="why">
        Faults affect requests with tokens of this simulation, including those of the dashboard. Health, login
        and the routes of simulations are never affected.
      </p>
      <form class="panel grid" onSubmit={submit} aria-label="New fault">
        <Select name="Fault" plain value={kind} options={KINDS} onChange={setKind} isDouble />
        {!isStream && <Select name="Method" plain value={method} options={METHODS} onChange={setMethod} />}
        <Field
          name="Path, or prefix with *"
          value={path}
          onChange={setPath}
          placeholder={isStream ? '/v1/stream/*' : '/v1/orders'}
        />
        {kind === 'delay' && (
          <NumberField name="Seconds" value={figure} onChange={setFigure} placeholder="2" />
        )}
        {isStream && (
          <NumberField
            name="After events"
            value={figure}
            onChange={setFigure}

            placeholder="1"
          />
        )}
        <NumberField name="Times (0 = always)" value={times} onChange={setTimes} />
        <NumberField
          name="Requests that pass first"
          value={skip}
          onChange={setSkip}

          placeholder="0"
        />
        <NumberField
          name="Chance, percent"
          value={chance}
          onChange={setChance}

          placeholder="100"
        />
        <button type="submit" class="primary">
          Set fault
        </button>
      </form>
      {error !== undefined && <Refusal error={error} />}
      {faults.error !== undefined && <Problem error={faults.error} retry={faults.reload} />}
      {rows.length === 0 ? (
        <p class="notice">No faults.</p>
      ) : (
        <Table
          label="Faults"
          rows={rows}
          keyOf={({ faultId }) => faultId}
          columns={[
            { title: 'Fault', isLong: true, cell: ({ fault }: Fault) => faultText(fault) },
            {
              title: 'Requests',
              cell: ({ match }: Fault) => `${match.method ?? 'Any'} ${match.path ?? 'route'}`,
            },
            {
              title: 'Used',
              isNumber: true,
              cell: ({ used, times: all }: Fault) =>
                `${quantity(used)} of ${all === 0 ? '∞' : quantity(all)}`,
            },
            {
              title: 'Delete',
              cell: ({ faultId, fault }: Fault) => (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Delete fault: ${faultText(fault)}`}
                  onClick={() => after(broker.call('deleteFault', { params: { faultId } }))}
                >
                  delete
                </button>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
