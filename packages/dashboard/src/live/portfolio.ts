import type { PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { PerFrame } from '../load.ts';
import { announce } from '../ui/toaster.tsx';
import { followStream } from './stream.ts';

/** A portfolio with its positions as the stream shows it. */
export function usePortfolio(portfolioId: string): {
  readonly value: PortfolioUpdate | undefined;
  readonly error: Error | undefined;
} {
  const broker = useBroker();
  const [state, setState] = useState<{ value?: PortfolioUpdate; error?: Error }>({});
  useEffect(() => {
    setState({});
    if (portfolioId === '') return undefined;
    let latest: { value?: PortfolioUpdate; error?: Error } = {};
    const show = new PerFrame(() => setState(latest));
    const change = (to: typeof latest): void => {
      latest = to;
      show.ask();
    };
    const stop = followStream('portfolio', (options) => broker.portfolioEvents({ portfolioId }, options), {
      onEvent: (value) => {
        if (value.marginCallActive && latest.value?.marginCallActive === false)
          announce(
            'Margin call',
            `${value.name ?? 'A portfolio'} has a new margin call.`,
            'error',
            'margin call',
          );
        change({ value });
      },
      onState: (_state, error) => {
        if (error !== undefined) change({ ...latest, error });
      },
    });
    return () => {
      show.end();
      stop();
    };
  }, [broker, portfolioId]);
  return { value: state.value, error: state.error };
}
