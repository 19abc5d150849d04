#!/usr/bin/env bash
# Makes the files of this folder with openssl and ssh-keygen. The keys are new at each run.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$work/rsa" 2>/dev/null
openssl req -x509 -key "$work/rsa" -subj /CN=example -days 3650 -out certificate.pem
openssl x509 -in certificate.pem -outform DER -out certificate.der
openssl x509 -in certificate.pem -noout -modulus >modulus.txt
openssl req -new -key "$work/rsa" -subj /CN=example -out request.pem
openssl req -in request.pem -outform DER -out request.der
openssl pkey -in "$work/rsa" -pubout -out spki.pem
openssl pkey -in "$work/rsa" -pubout -outform DER -out spki.der
openssl rsa -pubin -in spki.pem -RSAPublicKey_out -out pkcs1.pem 2>/dev/null
openssl rsa -pubin -in spki.pem -RSAPublicKey_out -outform DER -out pkcs1.der 2>/dev/null
ssh-keygen -i -m PKCS8 -f spki.pem >ssh.pub

# An SSH certificate for the key.
ssh-keygen -q -t ed25519 -N '' -C example -f "$work/ca"
sed "s/$/ example/" ssh.pub >"$work/id.pub"
ssh-keygen -q -s "$work/ca" -I example "$work/id.pub"
cp "$work/id-cert.pub" ssh-certificate.pub

# Other algorithms.
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/ec"
openssl req -x509 -key "$work/ec" -subj /CN=example -days 3650 -out ec.pem
openssl genpkey -algorithm ED25519 -out "$work/ed"
openssl pkey -in "$work/ed" -pubout -out ed25519.pem
cp "$work/ca.pub" ed25519.pub
