import type { PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
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
    return followStream('portfolio', (options) => broker.portfolioEvents({ portfolioId }, options), {
      onEvent: (value) => setState({ value }),
      onState: (_state, error) => {
        if (error !== undefined) setState((old) => ({ ...old, error }));
      },
    });
  }, [broker, portfolioId]);
  return { value: state.value, error: state.error };
}
