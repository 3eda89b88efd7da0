export function freePorts(count: number): Promise<number[]>;
export function postgresFolder(): string;
export function startPostgres(
  folder: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly pid: number; end(): Promise<void> }>;
