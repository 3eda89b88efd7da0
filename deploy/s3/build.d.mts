export const s3Version: string;
export function buildS3(): Promise<string>;
