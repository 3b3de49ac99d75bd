/** The tax year of a portfolio: its sales, their totals, its open lots. */
import type { RealizedGain, RealizedGainPage, TaxLot } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { change, dateText, money, quantity, tone, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Column } from '../parts/column.ts';
import { Download } from '../parts/download.tsx';
import { Field, Select } from '../parts/field.tsx';
import { Figure } from '../parts/figure.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { setQuery } from '../route.ts';
import type { SectionProps } from './section.ts';

const METHODS = ['FIFO', 'LIFO', 'HIFO'] as const;

/** Rows that a table shows; the file has all of them. */
const MOST = 500;

export function TaxesSection({ portfolioId, query }: SectionProps) {
  const broker = useBroker();
  const year = query.get('year') ?? '';
  const method = METHODS.find((one) => one === query.get('method')) ?? 'FIFO';
  const params = { portfolioId };
  const asked = { method, ...(/^\d{4}$/.test(year) && { year: Number(year) }) };
  const found = useLoad(async () => {
    const [gains, lots] = await Promise.all([
      broker.call('listRealizedGains', { params, query: { ...asked, limit: MOST } }),
      broker.call('listTaxLots', { params, query: { method, limit: MOST } }),
    ]);
    return { gains, lots };
  }, [portfolioId, asked]);
  useClockMoves(found.reload);
  const { value, error } = found;
  return (
    <>
      <div class="grid">
        <Field
          name="Tax year"
          inputMode="numeric"
          value={year}
          placeholder={String(value?.gains.year ?? '')}
          onChange={(next) => setQuery({ year: next })}
        />
        <Select
          name="Lot method"
          value={method}
          options={[
            ['FIFO', 'Oldest (FIFO)'],
            ['LIFO', 'Newest (LIFO)'],
            ['HIFO', 'Highest basis (HIFO)'],
          ]}
          plain
          onChange={(next) => setQuery({ method: next })}
        />
      </div>
      <p class="why">
        Computed as if this method had applied from the first day. Wash sales are found within this portfolio
        only. Not tax advice.
      </p>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && (
        <>
          <Totals gains={value.gains} />
          <section>
            <div class="row">
              <h2>Sales of {value.gains.year}</h2>
              <Download name="form-8949.csv" list="listRealizedGains" given={{ params, query: asked }}>
                Form 8949
              </Download>
              <Download
                name="form-6781.csv"
                list="listRealizedGains"
                given={{ params, query: { ...asked, form: '6781' } }}
              >
                Form 6781
              </Download>
            </div>
            {value.gains.pagination.total > MOST && (
              <p class="why">The table shows the latest {MOST} sales. The files have all of them.</p>
            )}
            <Table
              label="Sales"
              columns={GAINS}
              rows={value.gains.data.map((gain, index) => ({ ...gain, index }))}
              keyOf={({ index }) => String(index)}
            />
          </section>
          <section>
            <div class="row">
              <h2>Open lots</h2>
              <Download name="tax-lots.csv" list="listTaxLots" given={{ params, query: { method } }} />
            </div>
            {value.lots.pagination.total > MOST && (
              <p class="why">The table shows the first {MOST} lots. The file has all of them.</p>
            )}
            <Table
              label="Open lots"
              columns={LOTS}
              rows={value.lots.data.map((lot, index) => ({ ...lot, index }))}
              keyOf={({ index }) => String(index)}
            />
          </section>
        </>
      )}
    </>
  );
}

function Totals({ gains: { totals, income } }: { readonly gains: RealizedGainPage }) {
  if (totals === undefined || income === undefined) return null;
  return (
    <dl class="figures wide">
      <Figure name="Short-term gain" tone={tone(totals.SHORT.gain)}>
        {money(totals.SHORT.gain)}
      </Figure>
      <Figure name="Long-term gain" tone={tone(totals.LONG.gain)}>
        {money(totals.LONG.gain)}
      </Figure>
      <Figure
        name="Section 1256 gain"
        term="section1256"
        note={`long-term ${money(totals.SECTION_1256.longTerm)}, short-term ${money(totals.SECTION_1256.shortTerm)}`}
        tone={tone(totals.SECTION_1256.gain)}
      >
        {money(totals.SECTION_1256.gain)}
      </Figure>
      <Figure name="Wash sales disallowed" term="washSale">
        {money(totals.SHORT.washSaleDisallowed + totals.LONG.washSaleDisallowed)}
      </Figure>
      <Figure name="Dividends">{money(income.dividends)}</Figure>
      <Figure name="Paid in lieu">{money(income.paymentsInLieu)}</Figure>
      <Figure name="Margin interest">{money(income.marginInterest)}</Figure>
      <Figure name="Borrow fees">{money(income.borrowFees)}</Figure>
    </dl>
  );
}

type Numbered<Row> = Row & { readonly index: number };

const GAINS: readonly Column<Numbered<RealizedGain>>[] = [
  { title: 'Symbol', cell: ({ symbol }) => symbol },
  { title: 'Quantity', isNumber: true, cell: (gain) => quantity(gain.quantity) },
  { title: 'Acquired', isSecondary: true, cell: ({ acquiredAt }) => dateText(acquiredAt) },
  { title: 'Sold', cell: ({ soldAt }) => dateText(soldAt) },
  { title: 'Proceeds', isNumber: true, isWide: true, cell: ({ proceeds }) => money(proceeds) },
  {
    title: 'Basis',
    term: 'costBasis',
    isNumber: true,
    isWide: true,
    cell: ({ costBasis }) => money(costBasis),
  },
  {
    title: 'Wash sale',
    term: 'washSale',
    isNumber: true,
    isSecondary: true,
    cell: ({ washSaleDisallowed = 0 }) => (washSaleDisallowed === 0 ? '' : money(washSaleDisallowed)),
  },
  { title: 'Gain', isNumber: true, cell: ({ gain }) => <span class={tone(gain)}>{change(gain)}</span> },
  { title: 'Term', isSecondary: true, cell: ({ term }) => (term === undefined ? '' : words(term)) },
];

const LOTS: readonly Column<Numbered<TaxLot>>[] = [
  { title: 'Symbol', cell: ({ symbol }) => symbol },
  { title: 'Side', cell: ({ side }) => words(side) },
  { title: 'Quantity', isNumber: true, cell: (lot) => quantity(lot.quantity) },
  { title: 'Acquired', cell: ({ acquiredAt }) => dateText(acquiredAt) },
  { title: 'Held from', isSecondary: true, cell: ({ holdingFrom }) => dateText(holdingFrom) },
  { title: 'Basis', term: 'costBasis', isNumber: true, cell: ({ costBasis }) => money(costBasis) },
];
