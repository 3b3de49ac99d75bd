import { accountTypes, type CreatePortfolioBody, portfolioMarginEngineTypes } from '@sandpit/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped } from '../format.ts';
import { errorFrom } from '../load.ts';
import { BrokerChoice } from '../parts/broker-choice.tsx';
import { Refusal } from '../parts/notice.tsx';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';

const KINDS = ['Cash', 'Margin, Reg T', 'Margin, portfolio margin'] as const;

/** Opens a portfolio, in its own account. */
export function NewPortfolio({ onDone }: { readonly onDone: (name: string) => void }) {
  const broker = useBroker();
  const [name, setName] = useState('My portfolio');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = form.current?.querySelector('input');
    field?.focus();
    field?.select();
  }, []);
  const [kind, setKind] = useState<string>(KINDS[1]);
  const [accountType, setAccountType] = useState<string>('INDIVIDUAL');
  const [engine, setEngine] = useState<string>('SIMPLE');
  const [brokerId, setBrokerId] = useState('default');
  const [cash, setCash] = useState('');
  const [error, setError] = useState<Error>();
  const isPortfolioMargin = kind === KINDS[2];
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isValid(event)) return;
    const initialCash = numberTyped(cash);
    const body: CreatePortfolioBody = {
      accountId: crypto.randomUUID(),
      portfolioType: kind === KINDS[0] ? 'CASH' : 'MARGIN',
      accountType: accountType as CreatePortfolioBody['accountType'],
      brokerId,
      ...(kind !== KINDS[0] && { marginType: isPortfolioMargin ? 'PORTFOLIO' : 'REG_T' }),
      ...(isPortfolioMargin && { portfolioMarginEngineType: engine as 'SIMPLE' }),
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(initialCash !== undefined && { initialCash }),
    };
    broker.call('createPortfolio', { body }).then(
      () => onDone(name.trim()),
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <form ref={form} class="panel grid" onSubmit={submit} aria-label="New portfolio">
      <Field name="Name" value={name} onChange={setName} />
      <Select name="Kind" value={kind} options={KINDS} onChange={setKind} />
      {isPortfolioMargin && (
        <Select name="Engine" value={engine} options={portfolioMarginEngineTypes} onChange={setEngine} />
      )}
      <Select name="Account" value={accountType} options={accountTypes} onChange={setAccountType} />
      <BrokerChoice value={brokerId} onChange={setBrokerId} />
      <NumberField name="Cash" value={cash} onChange={setCash} placeholder="server default" />
      <div class="row">
        <button type="submit" class="primary">
          Open portfolio
        </button>
      </div>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}
