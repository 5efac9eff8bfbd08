// Compiled from GasMeter.yul by `npx tsx scripts/compileContracts.ts`.
export const gasMeterCode = '0x602b8038038091600039600080805160601c60145a94601319019185fa505a9060005260205260406000fd'
