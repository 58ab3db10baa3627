/*
 * codec_pack.h - what the files of the codec share among themselves.
 */
#ifndef AGENT_CODEC_PACK_H
#define AGENT_CODEC_PACK_H

#include "agent/codec.h"
#include "proto/lockstep.pb-c.h"

/* The bytes of a frame that is known to fit. */
struct codec_bytes codec_pack(const Lockstep__Frame *frame);

/* For packing only: they point into what is given. */
ProtobufCBinaryData codec_pack_uuid(const struct uuid *uuid);
void codec_pack_work(const struct work *work, Lockstep__Work *ret_work);

#endif
