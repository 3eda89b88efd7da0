import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadMasterKey } from '../../src/config/master-key.ts';

const refusal = (env: NodeJS.ProcessEnv): ConfigError => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The settings were accepted.');
};

describe('settings', () => {
  test('have the defaults that the design names; an empty variable counts as none', () => {
    expect(readConfig({ SIGNALBOX_PORT: '', TEMPORAL_ADDRESS: '' })).toEqual({
      host: '127.0.0.1',
      port: 8787,
      dataDir: resolve('.signalbox'),
      formerMasterKeys: [],
      codec: false,
      uiOrigins: [],
      taskQueue: 'signalbox',
      historyLimit: 1000,
      bash: 'off',
      bashFolders: [],
      mcpStdioAllowed: false,
      mcpCommands: [],
      rates: {
        address: { perSecond: 100, burst: 1_000 },
        key: { perSecond: 1_000, burst: 3_000 },
        organization: { perSecond: 1_000, burst: 3_000 },
      },
      trustedProxies: [],
      httpAllow: [],
      ownPorts: [],
      blobs: { folder: resolve('.signalbox/blobs'), isOn: true },
      limits: { overflow: 'queue' },
      logLevel: 'info',
      mail: {},
      ownTemporal: { ui: 'without-keys' },
      retentionDays: 30,
      temporal: { namespace: 'signalbox' },
      workerVersioning: 'off',
      sdkPatches: true,
    });
  });

  test.each([
    ['SIGNALBOX_PORT', '65536', /whole number from 0 to 65535/],
    ['SIGNALBOX_PORT', '80x', /whole number/],
    ['SIGNALBOX_HOST', 'http://here', /address or a host name/],
    ['SIGNALBOX_BASH', 'yes', /expected 1/],
    ['SIGNALBOX_HTTP_ALLOW', '10.0.0.0/33', /CIDRs/],
    ['SIGNALBOX_HISTORY_LIMIT', '0', /whole number/],
    ['SIGNALBOX_PUBLIC_URL', 'ftp://x', /http or https/],
    ['SIGNALBOX_MASTER_KEY', 'c2hvcnQ=', /32 bytes/],
    ['SIGNALBOX_FORMER_MASTER_KEYS', `${'ab'.repeat(32)},c2hvcnQ=`, /32 bytes/],
    ['SIGNALBOX_ADMIN_KEY', 'too-short-to-be-a-key', /32 to 200/],
    ['SIGNALBOX_CODEC', 'yes', /expected 1/],
    ['SIGNALBOX_SDK_PATCHES', 'off', /expected 1/],
    ['SIGNALBOX_UI', 'no', /expected 1 \(the Web UI/],
    ['SIGNALBOX_TEMPORAL_PORT', '0', /whole number from 1/],
    ['SIGNALBOX_MAIL_FROM_ALLOW', 'ann', /addresses/],
  ])('%s=%s is refused by name, without repeating the value', (variable, value, message) => {
    const error = refusal({ [variable]: value });
    expect(error).toMatchObject({ variable, code: 'bad_setting', exitCode: 20 });
    expect(error.message).toMatch(message);
    if (/_KEYS?$/.test(variable)) expect(error.message).not.toContain(value);
  });

  test('read what private ranges are allowed', () => {
    expect(readConfig({ SIGNALBOX_HTTP_ALLOW: '10.0.0.0/8, fd00::/8' }).httpAllow).toEqual(['10.0.0.0/8', 'fd00::/8']);
  });

  test('read Temporal as its CLI does: an API key turns TLS on', () => {
    expect(
      readConfig({ TEMPORAL_ADDRESS: 'cloud:7233', TEMPORAL_NAMESPACE: 'mine', TEMPORAL_API_KEY: 'k' }).temporal,
    ).toEqual({ address: 'cloud:7233', namespace: 'mine', apiKey: 'k', tls: true });
  });

  test('take a master key as hex or base64', () => {
    const hex = '00ff'.repeat(16);
    const base64 = Buffer.from(hex, 'hex').toString('base64');
    expect(readConfig({ SIGNALBOX_MASTER_KEY: hex }).masterKey).toEqual(
      readConfig({ SIGNALBOX_MASTER_KEY: base64 }).masterKey,
    );
  });
});

describe('the master key of a data folder', () => {
  test('is made once, for its owner alone, and a damaged one is refused', () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), 'signalbox-key-')), 'data');
    const config = readConfig({ SIGNALBOX_DATA: dataDir });
    const key = loadMasterKey(config);
    expect(key).toHaveLength(32);
    expect(loadMasterKey(config)).toEqual(key);
    expect(statSync(join(dataDir, 'master.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['master.key']);
    writeFileSync(join(dataDir, 'master.key'), 'half');
    expect(() => loadMasterKey(config)).toThrow(/Restore it from a backup/);
    rmSync(join(dataDir, '..'), { recursive: true });
  });

  test('is refused by name, with the reason, where it cannot be read or made', () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-key-'));
    const loadIn = (dataDir: string) => () => loadMasterKey(readConfig({ SIGNALBOX_DATA: dataDir }));
    mkdirSync(join(folder, 'master.key'));
    expect(loadIn(folder)).toThrow(
      /^SIGNALBOX_MASTER_KEY: the file \S+master\.key cannot be read or created \(EISDIR\)/,
    );
    writeFileSync(join(folder, 'file'), '');
    expect(loadIn(join(folder, 'file'))).toThrow(ConfigError);
    rmSync(folder, { recursive: true });
  });
});
