import type { Order } from '@sandpit/protocol';

type Named = Pick<Order, 'symbol' | 'strategy' | 'legs'>;

const OSI = /^(.+?)(\d{2})(\d{2})(\d{2})([CP])(\d{8})$/;

/** The instrument of an order; of a multi-leg order the strategy and its legs: `AAPL VERTICAL_SPREAD +C150 -C155 2026-01-16`. */
export function orderName({ symbol, strategy, legs }: Named): string {
  if (legs === undefined) return symbol;
  const contracts = legs.map(({ optionSymbol, positionIntent, quantity }) => {
    const [, , year, month, day, right = '', strike = ''] = OSI.exec(optionSymbol.replaceAll(' ', '')) ?? [];
    const sign = positionIntent.startsWith('BUY') ? '+' : '-';
    const count = quantity === 1 ? '' : `${quantity}x`;
    const contract = right === '' ? optionSymbol : `${right}${Number(strike) / 1000}`;
    return {
      text: `${sign}${count}${contract}`,
      expiration: right === '' ? '' : `20${year}-${month}-${day}`,
    };
  });
  const expirations = [...new Set(contracts.map(({ expiration }) => expiration))];
  const shared = expirations.length === 1 ? expirations : [];
  const texts = contracts.map(({ text, expiration }) =>
    shared.length === 1 ? text : `${text} ${expiration}`.trim(),
  );
  return [symbol, strategy ?? 'multi-leg', ...texts, ...shared].join(' ').trim();
}
