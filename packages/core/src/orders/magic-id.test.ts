import { describe, expect, it } from 'vitest';
import { TestMarket } from '../testing/market.js';
import { isMagicId, scriptOfId } from './magic-id.js';

describe('scriptOfId (D176)', () => {
  it.each([
    [
      '~reject:INSUFFICIENT_FUNDS',
      { type: 'REJECT', refusal: { code: 'SCRIPTED', shownAs: 'INSUFFICIENT_FUNDS' } },
    ],
    [
      '~reject-later:NOT_SHORTABLE@2s',
      {
        type: 'REJECT_LATER',
        refusal: { code: 'SCRIPTED', shownAs: 'NOT_SHORTABLE' },
        after: { ms: 2000, text: '2s' },
      },
    ],
    ['~fill:30%', { type: 'FILL', pieces: [{ percent: 300_000 }] }],
    [
      '~fill:30%@1s,70%@5s#x#y',
      {
        type: 'FILL',
        pieces: [
          { percent: 300_000, after: { ms: 1000, text: '1s' } },
          { percent: 700_000, after: { ms: 5000, text: '5s' } },
        ],
      },
    ],
    ['~fill:100@187.60', { type: 'FILL', pieces: [{ quantity: 100_000_000, price: 18_760_000_000 }] }],
    [
      '~fill:0.5@$10@250ms',
      {
        type: 'FILL',
        pieces: [{ quantity: 500_000, price: 1_000_000_000, after: { ms: 250, text: '250ms' } }],
      },
    ],
    ['~hold', { type: 'HOLD' }],
    ['~hold@10m#1', { type: 'HOLD', lasts: { ms: 600_000, text: '10m' } }],
    ['~no-cancel', { type: 'ON_CANCEL', effect: 'IGNORE' }],
    ['~fill-on-cancel#7', { type: 'ON_CANCEL', effect: 'FILL' }],
    ['~error', { type: 'ERROR' }],
  ])('reads %s', (id, script) => {
    expect(scriptOfId(id)).toEqual(script);
  });

  it.each([
    '~',
    '~#',
    '~nonsense',
    '~reject',
    '~reject:',
    '~reject:RATE_LIMITED',
    '~reject:INSUFFICIENT_FUNDS@2s',
    '~reject-later:NOT_SHORTABLE@2',
    '~fill',
    '~fill:',
    '~fill:0%',
    '~fill:101%',
    '~fill:60%,60%',
    '~fill:30%@1s@2s',
    '~fill:30%@1@2',
    '~fill:30%,',
    '~fill:1e3',
    '~fill:-1',
    '~hold@',
    '~hold@10',
    '~hold@1s@2s',
    '~error@1s',
    '~no-cancel@1s',
    '~Error',
  ])('does not know %s', (id) => {
    expect(scriptOfId(id)).toBeUndefined();
  });

  it('finds ids that are meant as scripts', () => {
    expect([isMagicId('~x'), isMagicId('x~'), isMagicId(undefined)]).toEqual([true, false, false]);
  });
});

describe('magic client order ids (D176)', () => {
  const open = (scripts: boolean) => {
    const m = new TestMarket({ rules: scripts ? { scripts: true } : {} });
    m.quote('AAPL', '149.99', '150.01');
    return { m, portfolio: m.openPortfolio() };
  };
  const named = (clientOrderId: string) => ({ more: { clientOrderId } });

  it('script their own order, before any rule', () => {
    const { m, portfolio } = open(true);
    m.script({ type: 'ERROR' }, { times: 0 });
    expect(m.submit(portfolio, named('~reject:OPTION_LEVEL'))).toMatchObject({ shownAs: 'OPTION_LEVEL' });
    const held = m.place(portfolio, named('~hold@10s'));
    expect(m.waitingFor(held)).toBe('held by script');
    expect(m.submit(portfolio, named('~hold@10s'))).toMatchObject({ code: 'DUPLICATE_CLIENT_ORDER_ID' });
    m.advanceMs(10_000);
    expect(m.order(held).status).toBe('FILLED');
    expect(m.order(m.place(portfolio, named('~error#1'))).status).toBe('ERROR');
    expect(m.submit(portfolio, named('~nothing'))).toEqual({
      code: 'INVALID',
      messages: ['clientOrderId: unknown script ~nothing'],
    });
  });

  it('are ordinary ids if scripts are off', () => {
    const { m, portfolio } = open(false);
    expect(m.order(m.place(portfolio, named('~error'))).status).toBe('FILLED');
    expect(m.order(m.place(portfolio, named('~nothing'))).status).toBe('FILLED');
  });
});
