/** Parts of forms, each with its label. */
import { useEffect, useId, useRef } from 'preact/hooks';
import { numberTyped, words } from '../format.ts';

interface FieldProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly inputMode?: 'decimal' | 'numeric' | 'text';
  readonly placeholder?: string;
  readonly list?: string;
  readonly type?: string;
  /** The name of the input in its form. */
  readonly inputName?: string;
  /** Problem with the value, shown below it. */
  readonly problem?: string | undefined;
  /** Shown below the value if it is valid. */
  readonly note?: string | undefined;
  /** Two columns of a grid, for a long value. */
  readonly isDouble?: boolean;
}

export function Field({
  name,
  value,
  onChange,
  problem,
  note,
  inputName,
  isDouble = false,
  ...rest
}: FieldProps) {
  const id = useId();
  const said = problem ?? note;
  return (
    <div class={isDouble ? 'field double' : 'field'}>
      <label for={id}>{name}</label>
      <input
        id={id}
        name={inputName}
        value={value}
        autocomplete="off"
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        aria-invalid={problem === undefined ? undefined : true}
        aria-describedby={said === undefined ? undefined : `${id}-note`}
        {...rest}
      />
      {said !== undefined && (
        <small id={`${id}-note`} class={problem === undefined ? 'dim' : 'down'}>
          {said}
        </small>
      )}
    </div>
  );
}

/** A field for a number, which may have commas and a dollar sign. Another text is a problem. */
export const NumberField = ({ problem, ...rest }: FieldProps) => (
  <Field
    inputMode="decimal"
    {...rest}
    problem={
      problem ??
      (Number.isNaN(numberTyped(rest.value))
        ? `${rest.name} must be a number, such as 1,000 or 187.50.`
        : undefined)
    }
  />
);

/** False, with the focus in the first field that has a problem, if the submitted form has one. */
export function isValid(event: Event): boolean {
  const invalid =
    event.currentTarget instanceof Element
      ? event.currentTarget.querySelector<HTMLElement>('[aria-invalid=true]')
      : null;
  invalid?.focus();
  return invalid === null;
}

export function Select({
  name,
  value,
  options,
  onChange,
  plain = false,
  isDouble = false,
}: {
  readonly name: string;
  readonly value: string;
  /** Values; with a title if displayed differently. */
  readonly options: readonly (string | readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
  /** Options unchanged, without labels. */
  readonly plain?: boolean;
  /** Two columns of a grid, for long options. */
  readonly isDouble?: boolean;
}) {
  const id = useId();
  return (
    <div class={isDouble ? 'field double' : 'field'}>
      <label for={id}>{name}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options
          .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
          .map(([option, title]) => (
            <option key={option} value={option}>
              {plain || !/^[A-Z_]{4,}$/.test(title) ? title : words(title)}
            </option>
          ))}
      </select>
    </div>
  );
}

/** A choice of a few, all seen. */
export function Tabs({
  label,
  value,
  options,
  onChange,
  isSection = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
  /** The choice is a part of the page rather than a filter of what it shows. */
  readonly isSection?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  // On a phone the tabs are wider than the page.
  useEffect(() => {
    const [tabs, current] = [box.current, box.current?.querySelector<HTMLElement>('[aria-pressed=true]')];
    if (tabs !== null && current)
      tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2;
  }, [value]);
  return (
    <div ref={box} class={isSection ? 'tabs sections' : 'tabs'} role="group" aria-label={label}>
      {options.map(([option, title]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {title}
        </button>
      ))}
    </div>
  );
}
