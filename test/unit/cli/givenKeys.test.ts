import { describe, expect, test } from 'vitest'
import { runCommand } from '../../chain/support/cliShop.js'

const digits = 'Ab1'.repeat(21).concat('c')

describe.each([digits, `0x${digits}`])('a key given as %s', (key) => {
  test.each([
    [['explain', key]],
    [['explain', `--${key}`]],
    [['events', '--after', key]],
    [['events', '--config', key]],
    [['health', '--config', `keys/${key}.mjs`]],
    [[key]],
  ])('is not printed back by %j', async (args) => {
    const { code, stdout, stderr } = await runCommand(args, {})
    expect(code).toBe(2)
    expect((stdout + stderr).toLowerCase()).not.toContain(digits.toLowerCase())
  })
})

test('the error says what stood there instead of the key', async () => {
  const { stderr } = await runCommand(['explain', `0x${digits}`], {})
  expect(stderr).toBe('There is no readable file (32 bytes of hex).\n')
})
