/** Calls of a client, and how they ended. */
const calls = [];

/** Makes a call. Its result; an empty object if it failed, so that later calls are tried too. */
export async function attempt(name, call) {
  try {
    const result = await call();
    calls.push({ name });
    return result ?? {};
  } catch (error) {
    const said = error?.response?.data?.message ?? error?.message ?? String(error);
    calls.push({ name, why: String(said).slice(0, 120) });
    return {};
  }
}

/** Prints them for `scripts/compatibility.ts`. */
export const report = () => process.stdout.write(`${JSON.stringify({ calls })}\n`);
