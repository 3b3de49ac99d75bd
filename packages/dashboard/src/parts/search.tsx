import { AnswerError } from '@sandpit/client';
import type { TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { errorFrom } from '../load.ts';
import { go, hrefOf } from '../route.ts';
import { sentenceOf } from './notice.tsx';

/** To a portfolio or an order by its id, to a market by its symbol. */
export function Search() {
  const broker = useBroker();
  const [problem, setProblem] = useState('');
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('wanted');
    if (!(field instanceof HTMLInputElement) || field.value.trim() === '') return;
    setProblem('');
    found(broker, field.value.trim()).then(
      (href) => {
        field.value = '';
        field.blur();
        go(href);
      },
      (error: unknown) => setProblem(sentenceOf(errorFrom(error))),
    );
  };
  return (
    <form class="inline" role="search" onSubmit={submit}>
      <input
        type="search"
        name="wanted"
        size={18}
        aria-label="Symbol, or id of a portfolio or an order"
        placeholder="Symbol or id  /"
      />
      {problem !== '' && (
        <span role="alert" class="down">
          {problem}
        </span>
      )}
    </form>
  );
}

async function found(broker: Broker, wanted: string): Promise<string> {
  const { simulationId } = broker;
  if (!/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(wanted))
    return hrefOf(simulationId, `market/${encodeURIComponent(wanted.toUpperCase())}`);
  const portfolio = await broker.call('getPortfolio', { params: { portfolioId: wanted } }).catch(absent);
  if (portfolio !== undefined) return hrefOf(simulationId, `portfolio/${wanted}`);
  const order = await broker.call('getOrder', { params: { orderId: wanted } }).catch(absent);
  if (order === undefined) throw new Error('No portfolio or order has this id.');
  return hrefOf(simulationId, 'orders', { order: wanted });
}

function absent(error: unknown): undefined {
  if (!(error instanceof AnswerError) || (error.status !== 404 && error.status !== 400)) throw error;
}
