/** Saves a list as a file of comma-separated values, as the server writes it. */
import type { Arguments } from '@sandpit/client';
import type { OperationId } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { errorFrom } from '../load.ts';
import { Problem } from './notice.tsx';
import { saveAs } from './save-as.ts';

export function Download<Id extends OperationId>({
  name,
  list,
  given,
  children = 'CSV',
}: {
  /** Name of the file. */
  readonly name: string;
  readonly list: Id;
  readonly given: Arguments<Id>;
  readonly children?: string;
}) {
  const broker = useBroker();
  const [isReading, setReading] = useState(false);
  const [problem, setProblem] = useState<Error>();
  const save = async (): Promise<void> => {
    setProblem(undefined);
    setReading(true);
    try {
      const rows = await broker.csv(list, given);
      // Throws if the download is interrupted: a truncated file would look complete.
      saveAs(name, await new Response(rows).blob());
    } catch (error) {
      setProblem(errorFrom(error));
    } finally {
      setReading(false);
    }
  };
  return (
    <>
      <button type="button" class="quiet" disabled={isReading} onClick={() => void save()}>
        {isReading ? 'Reading …' : children}
      </button>
      {problem !== undefined && <Problem error={problem} retry={() => void save()} />}
    </>
  );
}
