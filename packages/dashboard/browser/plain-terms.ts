/** Terms that a trader reads: contracts, brokers by name, labels in errors, numbers with commas. */
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

/** True while a chart has colored pixels, those of candles. */
const CANDLES = `[...document.querySelectorAll('.chart-box canvas')].some((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0 && Math.abs(data[i] - data[i + 1]) > 60) return true;
  return false;
})`;

export function plainTerms(visit: Visit): void {
  it('shows terms of a future, brokers by name, labels of fields in errors, and accepts commas', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'terms');
    await simulation.quotes({ AAPL: [187.59, 187.6], ESH26: [6900, 6900.25] });

    // Brokers are chosen by name, and cash is written with a comma.
    await visit.go(simulation.place(''), page);
    await page
      .getByRole('button', { name: /Open a portfolio|New portfolio/ })
      .first()
      .click();
    const opening = page.getByRole('form', { name: 'New portfolio' });
    const { data: brokers } = await simulation.api<{ data: { brokerId: string; name: string }[] }>(
      'GET',
      '/brokers',
    );
    const schwab = brokers.find(({ brokerId, name }) => brokerId !== name && brokerId !== 'default');
    if (schwab === undefined) throw new Error('no broker with a name');
    await opening.getByLabel('Broker').selectOption({ label: schwab.name });
    await opening.getByLabel('Name').fill('Terms');
    await opening.getByLabel('Cash').fill('a lot');
    await opening.getByText('Cash must be a number, such as 1,000 or 187.50.').waitFor();
    await opening.getByRole('button', { name: 'Open portfolio' }).click();
    expect((await simulation.api<{ data: object[] }>('GET', '/portfolios')).data).toEqual([]);
    await opening.getByLabel('Cash').fill('$250,000');
    await opening.getByRole('button', { name: 'Open portfolio' }).click();
    await page.getByRole('article').getByText(`· ${schwab.name}`).waitFor(SOON);
    await page.getByRole('article').getByText('$250,000.00').first().waitFor(SOON);
    const portfolioId = (await simulation.api<{ data: { portfolioId: string }[] }>('GET', '/portfolios'))
      .data[0]?.portfolioId;

    // 50 dollars a point, 0.25 × 50 a tick, 2 × 6,900.25 × 50; the March contract ends on the third Friday.
    await visit.go(simulation.place(`trade/ESH26?portfolio=${portfolioId}&quantity=2`), page);
    const contract = page.getByLabel('Contract', { exact: true });
    await expect
      .poll(() => contract.innerText(), SOON)
      .toMatch(
        /\$50\.00 a point\s+Tick\s+0\.25 = \$12\.50\s+Notional\s+\$690,025\.00\s+Last trade\s+Mar 20, 2026/i,
      );

    // A symbol without bars leaves none of the symbol before.
    await simulation.clock('2026-01-06T11:00:00-05:00');
    await simulation.quotes({ AAPL: [189.99, 190] });
    await visit.go(simulation.place(`trade/AAPL?portfolio=${portfolioId}`), page);
    await page.getByRole('img', { name: /^AAPL, [1-9]\d* bars/ }).waitFor(SOON);
    await expect.poll(() => page.evaluate(CANDLES), SOON).toBe(true);
    const form = page.getByRole('form', { name: 'Order' });
    await form.getByLabel('Symbol').fill('ES');
    await page.keyboard.press('Tab');
    await page.getByRole('heading', { name: 'ES', exact: true }).waitFor(SOON);
    await expect.poll(() => page.evaluate(CANDLES), SOON).toBe(false);

    // An order is changed with commas; an error names the field as the form does.
    const { orderId } = await simulation.api<{ orderId: string }>('POST', '/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      limitPrice: 1.5,
      positionIntent: 'BUY_TO_OPEN',
      quantity: 10,
      timeInForce: 'DAY',
    });
    await visit.go(simulation.place(`orders?order=${orderId}`), page);
    const change = page.getByRole('form', { name: 'Change order' });
    await change.getByLabel('Quantity').fill('1,000');
    await change.getByRole('button', { name: 'Replace' }).click();
    await expect
      .poll(
        async () => (await simulation.api<{ quantity: number }>('GET', `/orders/${orderId}`)).quantity,
        SOON,
      )
      .toBe(1000);
    await change.getByLabel('Limit').fill('-1');
    await change.getByRole('button', { name: 'Replace' }).click();
    await page.getByRole('alert').getByText('Limit price must be').waitFor(SOON);
    await visit.leave(page);
  }, 120_000);
}
