/** Actions on a portfolio other than trades, each with its effect. */
import { type OptionPosition, portfolioMarginEngineTypes, type PortfolioUpdate } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, money, numberTyped, quantity, readable, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { contractText } from '../option-legs.ts';
import { NumberField, Select } from '../parts/field.tsx';
import { Empty } from '../parts/notice.tsx';
import { tellClockMoved } from '../time/clock-control.ts';
import { useClockMoves } from '../clock-moves.ts';
import { BrokerChoice } from '../parts/broker-choice.tsx';
import { Term } from '../why/term.tsx';
import { Deed } from './deed.tsx';
import './manage.css';

/** Shares of a standard contract. */
const SHARES = 100;
const PROMOTION = 150_000;

interface Props {
  readonly portfolio: PortfolioUpdate;
}

export function ManagePortfolio({ portfolio }: Props) {
  const broker = useBroker();
  if (!broker.may('trade')) return <Empty>Read-only token: it cannot change the portfolio.</Empty>;
  if (portfolio.status === 'CLOSED') return <Empty>The portfolio is closed.</Empty>;
  return (
    <>
      <div class="deeds">
        <Transfer portfolio={portfolio} />
        <SwitchBroker portfolio={portfolio} />
        {portfolio.portfolioType === 'MARGIN' && <MarginType portfolio={portfolio} />}
        <Reset portfolio={portfolio} />
        <Close portfolio={portfolio} />
      </div>
      {portfolio.options.length > 0 && (
        <>
          <h2>Options</h2>
          <p class="dim">
            Use them now (<Term name="earlyExercise">early exercise</Term>), or have them expire unused.
          </p>
          <div class="deeds">
            {portfolio.options
              .filter((one) => one.quantity > 0)
              .map((one) => (
                <Exercise key={one.optionSymbol} portfolio={portfolio} option={one} />
              ))}
          </div>
        </>
      )}
    </>
  );
}

function Transfer({ portfolio }: Props) {
  const broker = useBroker();
  const [direction, setDirection] = useState('in');
  const [amount, setAmount] = useState('');
  const typed = numberTyped(amount);
  const isGood = typed !== undefined && typed > 0;
  const moved = isGood ? typed * (direction === 'in' ? 1 : -1) : 0;
  return (
    <Deed
      title="Deposit or withdraw"
      rule="cash"
      verb={direction === 'in' ? 'Deposit' : 'Withdraw'}
      typed={`${direction} ${amount}`}
      effects={
        isGood
          ? [
              `Settled cash becomes ${money(portfolio.settledCash + moved)}${portfolio.marginLoan > 0 && moved > 0 ? ', or the loan falls' : ''}; equity becomes ${money(portfolio.totalEquity + moved)}.`,
              'The transfer is a ledger entry, and performance does not count it as a return.',
              ...(portfolio.marginCallActive && moved > 0
                ? ['An open margin call is met when it covers what is due.']
                : []),
            ]
          : ['Enter an amount in dollars.']
      }
      act={async () => {
        if (!isGood) return 'Enter an amount in dollars.';
        await broker.call('transferCash', {
          params: { portfolioId: portfolio.portfolioId },
          body: { amount: moved },
        });
        setAmount('');
        tellClockMoved();
        return `${change(moved)} was booked.`;
      }}
    >
      <Select
        name="Direction"
        plain
        value={direction}
        options={[
          ['in', 'Deposit'],
          ['out', 'Withdraw'],
        ]}
        onChange={setDirection}
      />
      <NumberField name="Amount" value={amount} onChange={setAmount} placeholder="5,000" />
    </Deed>
  );
}

function SwitchBroker({ portfolio }: Props) {
  const broker = useBroker();
  const brokers = useLoad(() => broker.call('listBrokers'), []);
  const [brokerId, setBrokerId] = useState(portfolio.brokerId);
  const chosen = brokers.value?.data.find((one) => one.brokerId === brokerId);
  return (
    <Deed
      title="Switch broker"
      rule="brokers"
      verb="Switch"
      typed={brokerId}
      problem={
        brokerId === portfolio.brokerId
          ? `The portfolio is at ${chosen?.name ?? brokerId}. Choose another broker.`
          : undefined
      }
      effects={[
        `New orders follow the rules of ${chosen?.name ?? brokerId}${chosen === undefined ? '' : `, with ${chosen.houseMaintenanceLong * 100}% house maintenance`}.`,
        'Positions and cash are unchanged. The switch is refused if the new broker does not allow a position.',
        'Requirements change at once and can cause a margin call.',
      ]}
      act={async () => {
        await broker.call('switchBroker', {
          params: { portfolioId: portfolio.portfolioId },
          body: { brokerId },
        });
        return `The portfolio is at ${chosen?.name ?? brokerId}.`;
      }}
    >
      <BrokerChoice value={brokerId} onChange={setBrokerId} />
    </Deed>
  );
}

function MarginType({ portfolio }: Props) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  const eligibility = useLoad(
    () => broker.call('getMarginEligibility', { params: { portfolioId } }),
    [portfolioId],
  );
  // A deposit can make the portfolio eligible.
  useClockMoves(eligibility.reload);
  const [type, setType] = useState<string>(portfolio.marginType === 'PORTFOLIO' ? 'REG_T' : 'PORTFOLIO');
  const [engine, setEngine] = useState<string>('SIMPLE');
  const [addCash, setAddCash] = useState(false);
  const isPortfolio = type === 'PORTFOLIO';
  const { eligible, reasons = [] } = eligibility.value ?? {};
  const isBlocked = isPortfolio && eligible === false && !addCash;
  return (
    <Deed
      title="Margin type"
      rule={isPortfolio ? 'portfolioMargin' : 'regT'}
      verb="Change"
      typed={`${type} ${engine} ${addCash}`}
      problem={type === portfolio.marginType ? `The portfolio has ${words(type)} margin.` : undefined}
      effects={
        isBlocked
          ? reasons.map((reason) => `Not possible yet. ${readable(reason)}.`)
          : [
              isPortfolio
                ? 'Requirements become those of the risk array: the largest loss of a range of moves.'
                : 'Requirements become those of Regulation T: 50% initial, the house rate to maintain.',
              'Reservations of open orders are computed again.',
              ...(addCash ? [`${money(PROMOTION)} of promotional cash is added, once.`] : []),
            ]
      }
      act={async () => {
        const { message } = await broker.call('upgradeMargin', {
          params: { portfolioId },
          body: {
            marginType: type as 'PORTFOLIO',
            ...(isPortfolio && { portfolioMarginEngineType: engine as 'SIMPLE' }),
            ...(addCash && { addPromotionalCash: true }),
          },
        });
        return message;
      }}
    >
      <Select
        name="Margin"
        plain
        value={type}
        options={[
          ['REG_T', 'Reg T'],
          ['PORTFOLIO', 'Portfolio margin'],
        ]}
        onChange={setType}
      />
      {isPortfolio && (
        <Select name="Engine" value={engine} options={portfolioMarginEngineTypes} onChange={setEngine} />
      )}
      <label class="inline">
        <input type="checkbox" checked={addCash} onChange={() => setAddCash(!addCash)} /> Add promotional cash
      </label>
    </Deed>
  );
}

function Reset({ portfolio }: Props) {
  const broker = useBroker();
  const count = positionsOf(portfolio);
  return (
    <Deed
      title="Reset"
      rule="reset"
      verb="Reset"
      isDanger
      effects={[
        `${count === 0 ? 'No positions are' : `${quantity(count)} ${count === 1 ? 'position is' : 'positions are'}`} closed at the mark, and all open orders are canceled.`,
        'Cash becomes the initial cash again. A new epoch of performance begins.',
        'Earlier orders, activities and ledger entries remain readable.',
      ]}
      act={async () => {
        const { resetSummary, message } = await broker.call('resetPortfolio', {
          params: { portfolioId: portfolio.portfolioId },
        });
        tellClockMoved();
        return `${message}: ${resetSummary.positionsClosed} positions closed, ${resetSummary.ordersCancelled} orders canceled, cash ${money(resetSummary.newCashBalance)}.`;
      }}
    />
  );
}

const positionsOf = ({ equities, options, futures }: PortfolioUpdate): number =>
  equities.length + options.length + futures.length;

function Close({ portfolio }: Props) {
  const broker = useBroker();
  const count = positionsOf(portfolio);
  const inTheWay = [
    ...(count > 0 ? [`${quantity(count)} ${count === 1 ? 'position' : 'positions'}`] : []),
    ...(portfolio.pendingCash !== 0 ? ['unsettled cash'] : []),
    ...(portfolio.reservedCash !== 0 ? ['open orders'] : []),
    ...(portfolio.marginLoan > 0 ? ['a loan'] : []),
    ...(portfolio.marginCallActive ? ['a margin call'] : []),
  ];
  return (
    <Deed
      title="Close the portfolio"
      rule="accounts"
      verb="Close"
      isDanger
      problem={
        inTheWay.length === 0
          ? undefined
          : `It can be closed once it has none of these: ${inTheWay.join(', ')}.`
      }
      effects={[
        `${money(portfolio.settledCash)} is paid out. Accrued interest and fees are posted first.`,
        'The portfolio accepts no more orders or transfers. Its history remains readable.',
      ]}
      act={async () => {
        const { message } = await broker.call('closePortfolio', {
          params: { portfolioId: portfolio.portfolioId },
        });
        return message;
      }}
    />
  );
}

function Exercise({ portfolio, option }: Props & { readonly option: OptionPosition }) {
  const broker = useBroker();
  const [what, setWhat] = useState('exercise');
  const [typed, setTyped] = useState('');
  const { optionSymbol, symbol, strike, optionType, quantity: held } = option;
  const count = numberTyped(typed) ?? held;
  const shares = count * SHARES;
  const isCall = optionType === 'CALL';
  const params = { portfolioId: portfolio.portfolioId, optionSymbol };
  return (
    <Deed
      title={`${symbol} ${contractText(optionSymbol)}`}
      rule="exercise"
      verb={what === 'exercise' ? 'Exercise' : 'Instruct'}
      typed={`${what} ${typed}`}
      effects={
        what === 'exercise'
          ? [
              `${quantity(count)} of ${quantity(held)} contracts are exercised now.`,
              `Standard contracts ${isCall ? 'buy' : 'sell'} ${quantity(shares)} ${symbol} at ${money(strike)}: ${change((isCall ? -1 : 1) * shares * strike)} of cash. Contracts on an index settle in cash.`,
              'Their remaining time value is lost.',
            ]
          : [
              `${quantity(count)} of ${quantity(held)} contracts will not be exercised when they expire, even in the money.`,
              'An instruction for 0 contracts withdraws it.',
            ]
      }
      act={async () => {
        if (what === 'exercise') {
          const done = await broker.call('exerciseOption', { params, body: { quantity: count } });
          tellClockMoved();
          return `${quantity(done.quantity)} exercised: ${quantity(done.shares)} ${done.underlying}, ${change(done.cash)}.`;
        }
        const done = await broker.call('doNotExerciseOption', { params, body: { quantity: count } });
        return `${quantity(done.quantity)} will not be exercised.`;
      }}
    >
      <Select
        name="Action"
        plain
        value={what}
        options={[
          ['exercise', 'Exercise now'],
          ['not', 'Do not exercise at expiry'],
        ]}
        onChange={setWhat}
      />
      <NumberField
        name="Contracts"
        value={typed}
        onChange={setTyped}
        inputMode="numeric"
        placeholder={String(held)}
      />
    </Deed>
  );
}
