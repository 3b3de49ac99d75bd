import type { ComponentChildren } from 'preact';
import { createPortal } from 'preact/compat';

/** Draws at the end of the page, above everything. That of the component library needs React. */
export const Portal = ({ children }: { readonly children: ComponentChildren }) =>
  createPortal(<>{children}</>, document.body);
