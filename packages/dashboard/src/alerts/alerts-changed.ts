/** Tells the watch and the pages that alerts were set, changed or removed here. */
export const alertsChanged = (): void => void dispatchEvent(new Event('alerts'));
