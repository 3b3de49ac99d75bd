import { useId } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { useLoad } from '../load.ts';
import { setQuery } from '../route.ts';
import { Field } from './field.tsx';

/** A symbol, with what is listed to choose from. */
export function SymbolField({ kind, value }: { readonly kind: string; readonly value: string }) {
  const broker = useBroker();
  const list = useId();
  const instruments = useLoad(
    () => broker.call('listInstruments', { query: { assetClass: kind as 'EQUITY', limit: 500 } }),
    [kind],
  );
  return (
    <>
      <Field
        name="Symbol"
        value={value}
        list={list}
        type="search"
        onChange={(symbol) => setQuery({ symbol: symbol.toUpperCase() })}
      />
      <datalist id={list}>
        {instruments.value?.data.map(({ symbol, name }) => (
          <option key={symbol} value={symbol}>
            {name ?? ''}
          </option>
        ))}
      </datalist>
    </>
  );
}
