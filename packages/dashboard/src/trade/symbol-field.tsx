import { useId } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { useLoad } from '../load.ts';
import { useTyped } from '../parts/use-typed.ts';
import { openSymbol } from './open-symbol.ts';

/** The symbol of the ticket, with listed symbols to choose from. It takes effect on Enter or Tab. */
export function SymbolField({ value }: { readonly value: string }) {
  const broker = useBroker();
  const id = useId();
  const [text, setText] = useTyped(value);
  const instruments = useLoad(
    () => broker.call('listInstruments', { query: { assetClass: 'EQUITY', limit: 500 } }),
    [broker.simulationId],
  );
  return (
    <div class="field">
      <label for={id}>Symbol</label>
      <input
        id={id}
        name="symbol"
        value={text}
        list={`${id}-list`}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        // preact/compat turns `onChange` into `onInput`, which would open each prefix of the symbol during typing.
        onChangeCapture={({ currentTarget }) => {
          const symbol = currentTarget.value.trim().toUpperCase();
          setText(symbol);
          if (symbol !== value) openSymbol(symbol);
        }}
      />
      <datalist id={`${id}-list`}>
        {instruments.value?.data.map(({ symbol, name }) => (
          <option key={symbol} value={symbol}>
            {name ?? ''}
          </option>
        ))}
      </datalist>
    </div>
  );
}
