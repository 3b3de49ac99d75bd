/** Five seconds in which a placed order that is still open can be canceled with one click. */
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { errorFrom } from '../load.ts';
import { sentenceOf } from '../parts/notice.tsx';

const SECONDS = 5;

export function Undo({ orderId, isOpen }: { readonly orderId: string; readonly isOpen: boolean }) {
  const broker = useBroker();
  const [left, setLeft] = useState(SECONDS);
  const [result, setResult] = useState<string>();
  useEffect(() => {
    const timer = setInterval(() => setLeft((seconds) => seconds - 1), 1000);
    return () => clearInterval(timer);
  }, []);
  if (result !== undefined) return <span role="status"> {result}</span>;
  if (left <= 0 || !isOpen) return null;
  const cancel = (): void => {
    setResult('Canceling …');
    broker.call('cancelOrder', { params: { orderId } }).then(
      () => setResult('Canceled.'),
      (reason: unknown) => setResult(`Not canceled: ${sentenceOf(errorFrom(reason))}`),
    );
  };
  return (
    <button type="button" class="small" aria-label="Cancel the order" onClick={cancel}>
      Cancel ({left})
    </button>
  );
}
