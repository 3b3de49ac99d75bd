/** A promise that a test resolves. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  return { passed: new Promise((resolve) => (open = resolve)), open: () => open() };
}
