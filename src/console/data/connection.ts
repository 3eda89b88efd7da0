/** Whether the gateway is reachable. While it is not, it is probed every other second; then all screens reload. */
import { createStore } from './store.ts';

const RETRY_MS = 2_000;

/** True from the first request without an answer until the gateway answers again. */
export const isGatewayUnreachable = createStore(false);

/** Counts reconnections. Resources reload when it changes. */
export const reconnectCount = createStore(0);

/** Reports that a request got no answer. */
export function reportUnreachable(): void {
  if (isGatewayUnreachable.get()) return;
  isGatewayUnreachable.set(true);
  setTimeout(() => void probeGateway(), RETRY_MS);
}

/** Reports that the gateway has answered. */
export function reportReachable(): void {
  if (!isGatewayUnreachable.get()) return;
  isGatewayUnreachable.set(false);
  reconnectCount.set(reconnectCount.get() + 1);
}

async function probeGateway(): Promise<void> {
  try {
    await fetch('/healthz', { cache: 'no-store' });
    reportReachable();
  } catch {
    setTimeout(() => void probeGateway(), RETRY_MS);
  }
}
